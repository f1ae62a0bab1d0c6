/** What a trial's machines did: the metrics service's answers, with what only the trial's documents tell. */
import { join } from "node:path";
import { checkpointRoot, checkpointStorage } from "@trainyard/blob";
import type { Plain } from "@trainyard/contracts";
import type {
  GetTrialProfileRequest,
  ListTrialSystemMetricsRequest,
  TrialProfile,
} from "@trainyard/contracts/api";
import {
  ProfileSummarySchema,
  QueryProfileSchema,
  QuerySystemPointsSchema,
  SystemPointPageSchema,
} from "@trainyard/contracts/commands";
import type { ExperimentDocument, TrialDocument } from "../core/views/documents.ts";
import type { Handlers, RequestContext } from "../http/request-context.ts";
import type { Backend } from "../shell/backend.ts";
import { pageSize } from "./paging.ts";

export function profileHandlers(backend: Backend, checkpointDir: string): Handlers["unary"] {
  return {
    "ProfileService.ListTrialSystemMetrics": async (
      request: Plain<ListTrialSystemMetricsRequest>,
      context: RequestContext,
    ) => {
      const { trial, group } = request;
      await backend.get("trial", trial);
      const page = await backend.command(
        "metrics",
        QuerySystemPointsSchema,
        { trial, group, after: request.pageToken, limit: pageSize(request.pageSize) },
        SystemPointPageSchema,
        context,
      );
      const items = page.points.map(({ atMs, ...point }) => ({
        trial,
        ...point,
        reportedAtMs: atMs,
      }));
      return { items, nextPageToken: page.next };
    },
    "ProfileService.GetTrialProfile": async (
      { trial: id }: Plain<GetTrialProfileRequest>,
      context: RequestContext,
    ) => {
      const trial = await backend.get("trial", id);
      const experiment = await backend.get("experiment", trial.experiment);
      const request = [QueryProfileSchema, { trial: id }, ProfileSummarySchema] as const;
      const { totals, paces } = await backend.command("metrics", ...request, context);
      const profile: Plain<TrialProfile> = {
        trial: id,
        enabled: isEnabled(experiment),
        summaries: totals.map((total) => ({
          ...total,
          agent: agentOf(trial, total.run, total.node),
        })),
        paces,
        tensorboardPath: tensorboardPath(experiment, id, checkpointDir),
      };
      return profile;
    },
  };
}

function sectionOf(experiment: ExperimentDocument, name: string) {
  const section: unknown = experiment.config?.[name];
  const isSection = typeof section === "object" && section !== null && !Array.isArray(section);
  return isSection ? (section as Readonly<Record<string, unknown>>) : null;
}

function isEnabled(experiment: ExperimentDocument): boolean {
  return sectionOf(experiment, "profiling")?.["enabled"] === true;
}

/** Empty while the placement is not known. */
function agentOf(trial: TrialDocument, run: number, node: number): string {
  const placements = trial.runs.find(({ number }) => number === run)?.placements ?? [];
  return placements.find(({ nodeRank }) => nodeRank === node)?.agent ?? "";
}

/** The SDK writes to the same place (trainyard.tensorboard). */
function tensorboardPath(
  experiment: ExperimentDocument,
  trial: string,
  checkpointDir: string,
): string {
  const storage = checkpointStorage(sectionOf(experiment, "checkpoint_storage"), checkpointDir);
  const root = checkpointRoot(storage);
  if (root === null) return "";
  return join(root, "tensorboard", "experiment", experiment.id, "trial", trial);
}
