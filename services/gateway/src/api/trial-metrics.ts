import {
  PointPageSchema,
  ProgressSchema,
  QueryPointsSchema,
  QueryProgressSchema,
} from "@trainyard/contracts/commands";
import { Problem } from "../http/problem.ts";
import type { RequestContext, UnaryHandlers } from "../http/request-context.ts";
import type { Backend } from "../shell/backend.ts";
import { pageSize } from "./paging.ts";

/** What the trial last said of itself; 0 when it has said nothing, or while the metrics service does not answer. */
export async function reportedProgress(
  backend: Backend,
  trial: string,
  context: RequestContext,
): Promise<number> {
  try {
    const request = [QueryProgressSchema, { trial }, ProgressSchema] as const;
    return (await backend.command("metrics", ...request, context)).fraction ?? 0;
  } catch (error) {
    if (error instanceof Problem && error.status === 503) return 0;
    throw error;
  }
}

export function metricHandlers(backend: Backend) {
  return {
    listTrialMetrics: async (request, context) => {
      const { trial, group, superseded } = request;
      await backend.get("trial", trial);
      const page = await backend.command(
        "metrics",
        QueryPointsSchema,
        { trial, group, superseded, after: request.pageToken, limit: pageSize(request.pageSize) },
        PointPageSchema,
        context,
      );
      const items = page.points.map((point) => ({
        trial,
        run: point.run,
        group: point.group,
        stepsCompleted: point.stepsCompleted,
        reportedAtMs: point.atMs,
        metrics: point.scalars,
        superseded: point.superseded,
      }));
      return { items, nextPageToken: page.next, position: String(page.position) };
    },
  } satisfies Partial<UnaryHandlers>;
}
