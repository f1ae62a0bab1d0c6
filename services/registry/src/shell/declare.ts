import { checkpointFolder, checkpointRoot, checkpointStorage, isStorageId } from "@trainyard/blob";
import type { Plain } from "@trainyard/contracts";
import type { DeclareCheckpoint, UploadPlan } from "@trainyard/contracts/commands";
import {
  isCheckpointId,
  isFault,
  isRejection,
  parseReportKey,
  type Rejection,
  reject,
  streamName,
} from "@trainyard/kernel";
import type { CommandContext, Work } from "@trainyard/runtime";
import type { Declared } from "../core/checkpoint/state.ts";
import { type Maker, makerOf, refusalOfMaker } from "../core/maker.ts";
import { isOver, refusalOf } from "../core/foreign/trial.ts";
import { registryLimits } from "../limits.ts";
import type { CommandDeps } from "./commands.ts";
import { declareFolder } from "./declare-folder.ts";
import { refusalOfPlace } from "./known-storages.ts";
import { refusalOfFolder } from "./folder-owner.ts";
import { unlessHeld } from "./open-checkpoint.ts";
import { checkpoints, runsOf, storageSource } from "../streams.ts";

type Storage = NonNullable<Declared["storage"]>;

/**
 * Declares a checkpoint of the newest run of a trial or a task, and returns the folder for its files. A repeat gets the
 * same answer. A checkpoint of a run that is over is refused and recorded as abandoned: its files may exist and are
 * cleared like those of any abandoned checkpoint.
 */
export async function declareCheckpoint(
  deps: CommandDeps,
  request: Plain<DeclareCheckpoint>,
  context: CommandContext,
): Promise<Plain<UploadPlan> | Rejection> {
  const { checkpoint } = request;
  const problem = problemOf(request);
  // Final for the sender: a request that an older gateway cannot read is `invalid_request`.
  if (problem !== null) return reject("invalid_checkpoint", problem);
  if (makerOf(request) === "") return declareFolder(deps, request, context);
  const { identity } = context;
  const refused = refusalOfMaker(request);
  if (refused !== null) return refused;
  const { executor } = deps;
  const { fold, id } = runsOf(request);
  // No guard protects a refusal, so it must not depend on a stale cache.
  executor.cache.forget(streamName(fold.category, id));
  const section = await newStorageOf(deps, request);
  const store = await deps.stores.of(section);
  // The host of a directory sends its storage id; the id of an object store is known only to the platform.
  const foreign = store === null ? await refusalOfWritten(deps, section, request) : null;
  if (foreign !== null) return foreign;
  const unknown =
    store === null ? await refusalOfPlace(deps.known, section, request.storageId) : null;
  if (unknown !== null) return unknown;
  const storageId = store === null ? request.storageId : await deps.known.idOf(section, store);
  let path: string | null = null;
  const found: { refusal: Rejection | null } = { refusal: null };
  const result = await executor.execute(identity, async (work) => {
    const runs = await work.guard(fold, id);
    const refusal = await unlessHeld(deps.hold, refusalOf(runs, request, checkpoint));
    found.refusal = refusal;
    if (refusal !== null && !isOver(refusal)) return refusal;
    const storage = await storageSection(work, request, deps.checkpointDir);
    path = checkpointFolder(storage, checkpoint);
    if (path === null && store === null) {
      const detail = `the checkpoint storage of ${request.task === undefined ? "trial" : "task"} ${id} is neither a directory nor S3 nor Google Cloud Storage`;
      return reject("storage_unsupported", detail);
    }
    const declared = declaredBy(request, storage, storageId);
    const decided = await work.decide(checkpoints, checkpoint, { kind: "declare", declared });
    if (isRejection(decided)) return decided;
    if (refusal === null) return undefined;
    await work.decide(checkpoints, checkpoint, { kind: "abandon", reason: refusal.detail });
    return undefined;
  });
  if (isRejection(result)) return result;
  if (found.refusal !== null) return found.refusal;
  deps.events.declared(checkpoint);
  const { position } = result;
  return { checkpoint, path: path ?? "", position, store: store?.address ?? "" };
}

/** Returns why the run may not have the folder that it has written; null while the storage does not answer. */
async function refusalOfWritten(
  deps: CommandDeps,
  storage: Storage,
  request: Plain<DeclareCheckpoint>,
): Promise<Rejection | null> {
  const root = checkpointRoot(storage);
  if (root === null) return null;
  return refusalOfFolder(deps, root, request).catch((error: unknown) => {
    // The folder is compared again before the checkpoint completes.
    if (isFault(error)) return null;
    throw error;
  });
}

function declaredBy(
  { trial, run, task, step, format, metadata, lastValidation }: Plain<DeclareCheckpoint>,
  storage: Storage,
  storageId: string | undefined,
): Declared {
  return {
    ...{ trial, run, step, storage, format },
    ...(task !== undefined && { task }),
    ...(metadata && { metadata }),
    ...(storageId && { storageId }),
    ...(lastValidation && { lastValidation }),
  };
}

async function newStorageOf(
  { executor, checkpointDir }: Pick<CommandDeps, "executor" | "checkpointDir">,
  maker: Maker,
): Promise<Storage> {
  const { fold, id } = storageSource(maker);
  const { storage } = (await executor.cache.load(fold, id)).state;
  return checkpointStorage(storage, checkpointDir);
}

/** The storage section of new checkpoints of a trial or a task. */
export async function storageSection(
  work: Work,
  maker: Maker,
  checkpointDir: string,
): Promise<Storage> {
  const { fold, id } = storageSource(maker);
  const { storage } = await work.load(fold, id);
  return checkpointStorage(storage, checkpointDir);
}

function problemOf({
  checkpoint,
  step,
  format,
  metadata,
  storageId,
  lastValidation,
}: Plain<DeclareCheckpoint>): string | null {
  if (!isCheckpointId(checkpoint)) return "checkpoint must be a UUID in lower case";
  if (!Number.isFinite(step) || step < 0) return "the steps completed must be a number from 0";
  if (storageId && !isStorageId(storageId)) return "storage_id must be a UUID in lower case";
  if (lastValidation && parseReportKey(lastValidation) === null) {
    return "last_validation must be the key of a report, such as 0-17";
  }
  const { metadataBytesMax, formatCharactersMax } = registryLimits;
  if (format.length > formatCharactersMax) {
    return `the format has ${format.length} characters: name it in at most ${formatCharactersMax}`;
  }
  const bytes = metadata === undefined ? 0 : Buffer.byteLength(JSON.stringify(metadata));
  if (bytes <= metadataBytesMax) return null;
  return `the metadata has ${bytes} bytes as JSON and may have ${metadataBytesMax}: put it into a file of the checkpoint`;
}
