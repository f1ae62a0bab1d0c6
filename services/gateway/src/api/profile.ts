/** What a trial's machines did: the metrics service's answers, with what only the trial's documents tell. */
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { PassThrough } from "node:stream";
import { checkpointRoot, checkpointStorage } from "@trainyard/blob";
import type { Plain } from "@trainyard/contracts";
import type {
  DownloadTensorBoardRequest,
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
import { create as createTar } from "tar";
import type { ExperimentDocument, TrialDocument } from "../core/views/documents.ts";
import { Problem } from "../http/problem.ts";
import type { Handlers, RequestContext } from "../http/request-context.ts";
import type { Backend } from "../shell/backend.ts";
import { pageSize } from "./paging.ts";

export function profileHandlers(
  backend: Backend,
  checkpointDir: string,
): Pick<Handlers, "unary" | "raw"> {
  return {
    unary: unaryHandlers(backend, checkpointDir),
    raw: {
      "ProfileService.DownloadTensorBoard": async ({
        trial,
      }: Plain<DownloadTensorBoardRequest>) => {
        const { experiment } = await backend.get("trial", trial);
        const folder = tensorboardPath(
          await backend.get("experiment", experiment),
          trial,
          checkpointDir,
        );
        return download(trial, folder);
      },
    },
  };
}

/** The files as they are now, also while the trial goes on writing to them. */
async function download(trial: string, folder: string) {
  const paths = folder === "" ? [] : await filesIn(folder);
  if (paths.length === 0) {
    const where = folder === "" ? "its storage is no directory" : `nothing is in ${folder}`;
    const detail = `the gateway sees no TensorBoard files of trial ${trial}: ${where}`;
    throw new Problem(404, "tensorboard_not_found", detail);
  }
  const body = new PassThrough();
  createTar({ cwd: folder, gzip: true, portable: true, noDirRecurse: true }, paths)
    .on("error", (error: unknown) => body.destroy(error as Error))
    .pipe(body);
  return { contentType: "application/gzip", fileName: `tensorboard-${trial}.tar.gz`, body };
}

/** Regular files only: a link may lead anywhere. Empty for a folder that is not there. */
async function filesIn(folder: string): Promise<string[]> {
  try {
    const found = await readdir(folder, { recursive: true, withFileTypes: true });
    return found
      .filter((entry) => entry.isFile())
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
      .toSorted();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

function unaryHandlers(backend: Backend, checkpointDir: string): Handlers["unary"] {
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
