/** The load of a trial's machines: the metrics service's answers, with facts from the trial's documents. */
import { join } from "node:path";
import { checkpointRoot, checkpointStorage, FolderOfOthers, NotInside } from "@trainyard/blob";
import {
  ProfileSummarySchema,
  QueryProfileSchema,
  QuerySystemPointsSchema,
  SystemPointPageSchema,
} from "@trainyard/contracts/commands";
import { type NormalisedConfig, recordedConfig } from "@trainyard/experiment-config/recorded";
import type { TrialDocument } from "../core/views/documents.ts";
import { Problem } from "../http/problem.ts";
import type { SomeHandlers, UnaryHandlers } from "../http/request-context.ts";
import { gatewayLimits } from "../limits.ts";
import { archiveOf } from "../shell/archive.ts";
import type { Backend } from "../shell/backend.ts";
import { pageSize } from "./paging.ts";

export function profileHandlers(backend: Backend, checkpointDir: string) {
  return {
    unary: unaryHandlers(backend, checkpointDir),
    raw: {
      downloadTensorBoard: async ({ trial }) => {
        const { experiment } = await backend.get("trial", trial);
        const config = recordedConfig(await backend.configOf(experiment));
        const { root, below } = tensorboardPlace(config, experiment, trial, checkpointDir);
        return download(backend, trial, root, below);
      },
    },
  } satisfies SomeHandlers;
}

/** The files as they are now, also while the trial keeps writing to them. */
async function download(backend: Backend, trial: string, root: string | null, below: string) {
  const absent = (why: string): Problem => {
    const detail = `the gateway sees no TensorBoard files of trial ${trial}: ${why}`;
    return new Problem(404, "tensorboard_not_found", detail);
  };
  if (root === null) throw absent("its storage is not a directory");
  const path = join(root, below);
  try {
    const folder = await FolderOfOthers.open(root, below);
    const files = (await folder?.files(gatewayLimits.tensorboardFilesMax)) ?? [];
    if (folder === null || files.length === 0) throw absent(`nothing is in ${path}`);
    const body = archiveOf(
      folder,
      files.map((file) => ({ path: file })),
      (error) => backend.parts.logger.warn({ err: error, trial }, "download_broke_off"),
    );
    return { contentType: "application/gzip", fileName: `tensorboard-${trial}.tar.gz`, body };
  } catch (error) {
    if (error instanceof NotInside) throw absent(`${path} ${error.message}`);
    throw error;
  }
}

function unaryHandlers(backend: Backend, checkpointDir: string) {
  return {
    listTrialSystemMetrics: async (request, context) => {
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
    getTrialProfile: async ({ trial: id }, context) => {
      const trial = await backend.get("trial", id);
      const { experiment } = trial;
      const config = recordedConfig(await backend.configOf(experiment));
      const { root, below } = tensorboardPlace(config, experiment, id, checkpointDir);
      const request = [QueryProfileSchema, { trial: id }, ProfileSummarySchema] as const;
      const { totals, paces } = await backend.command("metrics", ...request, context);
      return {
        trial: id,
        enabled: config.profiling?.enabled === true,
        summaries: totals.map((total) => ({
          ...total,
          agent: agentOf(trial, total.run, total.node),
        })),
        paces,
        // Empty for a storage that is no directory.
        tensorboardPath: root === null ? "" : join(root, below),
      };
    },
  } satisfies Partial<UnaryHandlers>;
}

/** Empty while the placement is not known. */
function agentOf(trial: TrialDocument, run: number, node: number): string {
  const placements = trial.runs.find(({ number }) => number === run)?.placements ?? [];
  return placements.find(({ nodeRank }) => nodeRank === node)?.agent ?? "";
}

/** The SDK writes to the same place (trainyard.tensorboard). All below the root is training code's to write. */
function tensorboardPlace(
  config: NormalisedConfig,
  experiment: string,
  trial: string,
  checkpointDir: string,
): { readonly root: string | null; readonly below: string } {
  const storage = checkpointStorage(config.checkpoint_storage, checkpointDir);
  const below = join("tensorboard", "experiment", experiment, "trial", trial);
  return { root: checkpointRoot(storage), below };
}
