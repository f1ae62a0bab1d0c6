/**
 * The calls about the system metrics of a trial: figures from the metrics service, with facts from the trial's
 * documents.
 */
import { join } from "node:path";
import type { Plain } from "@trainyard/contracts";
import type { Run } from "@trainyard/contracts/api";
import { recordedConfig } from "@trainyard/experiment-config/recorded";
import { assert } from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import { archiveOf } from "../../http/archive.ts";
import { openPlanned } from "../../http/planned-download.ts";
import { Problem } from "../../http/problem.ts";
import type { RequestContext, SomeHandlers, UnaryHandlers } from "../../http/request-context.ts";
import { shownRuns } from "../experiments/whole.ts";
import { apiLimits } from "../limits.ts";
import { pageSize } from "../paging.ts";
import type { BoardPlaces } from "../tensorboard/board-places.ts";

export function profileHandlers(backend: Backend, places: BoardPlaces) {
  return {
    unary: unaryHandlers(backend, places),
    raw: {
      downloadTensorBoard: async ({ trial }, context) => {
        const place = await places.of(trial);
        if (place.kind === "objects") return downloadObjects(backend, trial, context);
        if (place.kind === "unknown") throw absentFiles(trial, place.why);
        return download(backend, trial, place.root, place.below);
      },
    },
  } satisfies SomeHandlers;
}

function absentFiles(trial: string, why: string): Problem {
  const detail = `the gateway has found no TensorBoard files of trial ${trial}: ${why}`;
  return new Problem(404, "tensorboard_not_found", detail);
}

/** Streams the files from an object store; each is opened only when its turn comes. */
async function downloadObjects(backend: Backend, trial: string, context: RequestContext) {
  const page = async (after: string) => {
    const message = { trial, after };
    return (await backend.command("registry", "PlanTensorBoardDownload", message, context)).files;
  };
  const first = await page("");
  if (first.length === 0) throw absentFiles(trial, "its object store has none");
  async function* files() {
    for (let some = first; some.length > 0; some = await page(some.at(-1)?.path ?? "")) {
      for (const { path, request } of some) {
        assert(request !== undefined, `a download of ${path} was planned`);
        yield { path, open: () => openPlanned(path, request) };
      }
    }
  }
  const body = archiveOf(files(), (error) =>
    backend.parts.logger.warn({ err: error, trial }, "download_broke_off"),
  );
  return { contentType: "application/gzip", fileName: `tensorboard-${trial}.tar.gz`, body };
}

/** Streams the present files from a folder, even while the trial still writes to them. */
async function download(backend: Backend, trial: string, root: string, below: string) {
  const absent = (why: string): Problem => absentFiles(trial, why);
  const path = join(root, below);
  const { disk, logger } = backend.parts;
  const listed = await disk.files(root, below, apiLimits.tensorboardFilesMax);
  if ("problem" in listed) throw absent(`${path} ${listed.problem}`);
  if (listed.files.length === 0) throw absent(`nothing is in ${path}`);
  const files = listed.files.map((file) => ({
    path: file,
    open: () => disk.read(root, below, file),
  }));
  const body = archiveOf(files, (error) =>
    logger.warn({ err: error, trial }, "download_broke_off"),
  );
  return { contentType: "application/gzip", fileName: `tensorboard-${trial}.tar.gz`, body };
}

function unaryHandlers(backend: Backend, places: BoardPlaces) {
  return {
    listTrialSystemMetrics: async (request, context) => {
      const { trial, group } = request;
      await backend.get("trial", trial);
      const page = await backend.command(
        "metrics",
        "QuerySystemPoints",
        { trial, group, after: request.pageToken, limit: pageSize(request.pageSize) },
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
      const runs = await shownRuns(backend, trial);
      const config = recordedConfig(await backend.configOf(experiment));
      const place = await places.of(id);
      const { totals, paces } = await backend.command(
        "metrics",
        "QueryProfile",
        { trial: id },
        context,
      );
      return {
        trial: id,
        enabled: config.profiling?.enabled === true,
        summaries: totals.map((total) => ({
          ...total,
          agent: agentOf(runs, total.run, total.node),
        })),
        paces,
        // The path is empty if the storage is not a folder.
        tensorboardPath: place.kind === "directory" ? join(place.root, place.below) : "",
      };
    },
  } satisfies Partial<UnaryHandlers>;
}

/** Returns the agent of a node of a run; empty if the placement is unknown. */
function agentOf(runs: readonly Plain<Run>[], run: number, node: number): string {
  const placements = runs.find(({ number }) => number === run)?.placements ?? [];
  return placements.find(({ nodeRank }) => nodeRank === node)?.agent ?? "";
}
