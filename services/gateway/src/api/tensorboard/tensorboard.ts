/**
 * The files that the run of a TensorBoard shows. Its token reads the files of the experiments and trials that its task
 * names while the task's owner sees them, and of no others. A file of an object store is read by a planned request; a
 * file of a directory storage is read here, from an offset, so that its agent need not see the storage.
 */
import { Readable } from "node:stream";
import { type Rights, rightsOf, userOf } from "@trainyard/access";
import { mapConcurrently, parseTrialId } from "@trainyard/kernel";
import type { Plain, RequestOf } from "@trainyard/contracts";
import type { FileDownload } from "@trainyard/contracts/commands";
import type { Backend } from "../../backend.ts";
import type { TaskRunCaller } from "../../http/caller.ts";
import { Problem } from "../../http/problem.ts";
import type { RequestContext, SomeHandlers } from "../../http/request-context.ts";
import { trialList } from "../../read-model/core/lists/lists.ts";
import { findTokens } from "../../spaces/tokens.ts";
import { creatorOfTask, type TaskCreator } from "../../streams.ts";
import { apiLimits } from "../limits.ts";
import { rowsPage, wholeList } from "../lists.ts";
import { isSeenBy } from "../rights/objects.ts";
import { requireOwnRun } from "../runs/runs.ts";
import type { BoardPlaces } from "./board-places.ts";

export function tensorBoardHandlers(backend: Backend, places: BoardPlaces) {
  return {
    unary: {
      listTensorBoardTrials: (request, context) => listTrials(backend, request, context),
      listTensorBoardFiles: async ({ run, trial, after }, context) => {
        await requireSource(backend, run, trial, context);
        return listFiles(backend, places, { trial, after }, context);
      },
    },
    raw: {
      readTensorBoardFile: async ({ run, trial, path, offset }, context) => {
        await requireSource(backend, run, trial, context);
        return readFile(backend, places, { trial, path, offset });
      },
    },
  } satisfies SomeHandlers;
}

type Board = {
  /** The experiments and trials that the task shows. */
  readonly sources: readonly string[];
  /** Whether the task's owner sees an experiment now. */
  readonly sees: (experiment: string) => Promise<boolean>;
};

/** Returns what the caller's task shows. Throws a Problem for other callers. */
async function boardOf(backend: Backend, run: string, { caller }: RequestContext): Promise<Board> {
  requireOwnRun(caller, run);
  const task = runOfTask(caller);
  const creator =
    task === null
      ? null
      : (await backend.parts.executor.cache.load(creatorOfTask, task.task)).state;
  if (task === null || creator?.kind !== "tensorboard") {
    const detail =
      "only the run of a TensorBoard lists the files that it shows, with its own token";
    throw new Problem(403, "not_a_tensorboard", detail);
  }
  await task.requireOpen();
  const rights = await rightsOfOwner(backend, creator);
  const sees = async (experiment: string) =>
    rights.everywhere("experiment_view") || isSeenBy(rights, backend, "experiment", experiment);
  return { sources: creator.sources, sees };
}

/** Returns the rights that the owner of a task has now, within the limits of the token that started it. */
async function rightsOfOwner(
  { parts }: Backend,
  { owner, tokenId }: Pick<TaskCreator, "owner" | "tokenId">,
): Promise<Rights> {
  const limits = (await findTokens(parts, [tokenId])).get(tokenId)?.limits ?? [];
  return rightsOf(await parts.access.state(), userOf(owner), owner, limits);
}

const runOfTask = (caller: RequestContext["caller"]): TaskRunCaller | null =>
  caller.kind === "run" && caller.task !== null ? caller : null;

async function requireSource(
  backend: Backend,
  run: string,
  trial: string,
  context: RequestContext,
): Promise<void> {
  const { sources, sees } = await boardOf(backend, run, context);
  const experiment = parseTrialId(trial)?.experiment ?? "";
  const isNamed = [trial, experiment].some((one) => sources.includes(one));
  if (experiment !== "" && isNamed && (await sees(experiment))) return;
  throw new Problem(403, "not_your_trial", `run ${run} does not show the files of trial ${trial}`);
}

/** A page is of one source; its token is the number of the source, and the token of the page in its list. */
async function listTrials(
  backend: Backend,
  { run, pageToken: token }: RequestOf<"listTensorBoardTrials">,
  context: RequestContext,
) {
  const { sources, sees } = await boardOf(backend, run, context);
  const [, at = "0", within = ""] = /^(\d{1,6}):(.*)$/.exec(token) ?? [];
  const source = sources[Number(at)];
  if (source === undefined) return { trials: [], nextPageToken: "" };
  const following = Number(at) + 1 < sources.length ? `${Number(at) + 1}:` : "";
  const experiment = parseTrialId(source)?.experiment ?? source;
  if (!(await sees(experiment))) return { trials: [], nextPageToken: following };
  if (experiment !== source) {
    const isThere = (await backend.find("trial", source)) !== undefined;
    return { trials: isThere ? [{ experiment, trial: source }] : [], nextPageToken: following };
  }
  if ((await backend.find("experiment", experiment)) === undefined) {
    return { trials: [], nextPageToken: following };
  }
  const asked = { ...wholeList, pageToken: within };
  const page = await rowsPage(backend, trialList, asked, { context, scope: experiment });
  const trials = page.items.map(({ id }) => ({ experiment, trial: id }));
  const more = page.nextPageToken === "" ? following : `${at}:${page.nextPageToken}`;
  return { trials, nextPageToken: more };
}

async function listFiles(
  backend: Backend,
  places: BoardPlaces,
  { trial, after }: { readonly trial: string; readonly after: string },
  context: RequestContext,
) {
  const place = await places.of(trial);
  if (place.kind === "objects") {
    const message = { trial, after };
    const { files } = await backend.command(
      "registry",
      "PlanTensorBoardDownload",
      message,
      context,
    );
    return { files: files.map(withTimes), problem: "" };
  }
  // A directory is listed as a whole: its first page is the last one with files.
  if (after !== "") return { files: [], problem: "" };
  if (place.kind === "unknown") return { files: [], problem: place.why };
  const { root, below } = place;
  const { disk } = backend.parts;
  const listed = await disk.files(root, below, apiLimits.boardFilesMax);
  if ("problem" in listed) return { files: [], problem: `${below} ${listed.problem}` };
  const found = await mapConcurrently(listed.files, apiLimits.boardFilesAtOnce, async (path) => {
    try {
      await using file = await disk.read(root, below, path);
      return [{ path, bytes: file.bytes, changedAtMs: file.changedAtMs }];
    } catch {
      // A file may be removed or replaced by a link after it was listed.
      return [];
    }
  });
  return { files: found.flat(), problem: "" };
}

const withTimes = ({ bytes = 0, changedAtMs = 0, ...file }: Plain<FileDownload>) => {
  return { ...file, bytes, changedAtMs };
};

async function readFile(
  backend: Backend,
  places: BoardPlaces,
  { trial, path, offset }: Omit<RequestOf<"readTensorBoardFile">, "run">,
) {
  const place = await places.of(trial);
  if (place.kind !== "directory") {
    const detail = `the files of trial ${trial} are not in a directory`;
    throw new Problem(404, "tensorboard_not_found", detail);
  }
  const { logger, disk } = backend.parts;
  const { root, below } = place;
  const file = await disk.read(root, below, path).catch((cause: unknown): never => {
    logger.debug({ err: cause, trial }, "tensorboard_file_unread");
    throw new Problem(404, "tensorboard_not_found", `trial ${trial} has no readable file ${path}`);
  });
  async function* rest() {
    await using opened = file;
    let skipped = 0;
    for await (const chunk of opened.content) {
      const from = Math.min(chunk.byteLength, Math.max(0, offset - skipped));
      skipped += chunk.byteLength;
      if (from < chunk.byteLength) yield chunk.subarray(from);
    }
  }
  return {
    contentType: "application/octet-stream",
    fileName: "events",
    body: Readable.from(rest()),
  };
}
