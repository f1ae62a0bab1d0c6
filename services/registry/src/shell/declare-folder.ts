/**
 * Declares a folder that a person uploads: a checkpoint without a trial. It waits for its files as long as the
 * checkpoints of an ended run do, and no experiment's policy applies to it.
 */
import { checkpointFolder, checkpointStorage } from "@trainyard/blob";
import type { Plain } from "@trainyard/contracts";
import type { DeclareCheckpoint, UploadPlan } from "@trainyard/contracts/commands";
import { isRejection, type Rejection, reject, streamName } from "@trainyard/kernel";
import type { CommandContext } from "@trainyard/runtime";
import { checkpoints, holdables } from "../streams.ts";
import type { CommandDeps } from "./commands.ts";
import { refusalOfPlace } from "./known-storages.ts";

export async function declareFolder(
  deps: CommandDeps,
  { checkpoint, format, metadata, storage: wanted, storageId: told }: Plain<DeclareCheckpoint>,
  { identity }: CommandContext,
): Promise<Plain<UploadPlan> | Rejection> {
  const storage = checkpointStorage(wanted ?? null, deps.checkpointDir);
  const store = await deps.stores.of(storage);
  const path = checkpointFolder(storage, checkpoint);
  if (path === null && store === null) {
    const detail = "folders can be uploaded only to a directory, to S3 or to Google Cloud Storage";
    return reject("storage_unsupported", detail);
  }
  const unknown = store === null ? await refusalOfPlace(deps.known, storage, told) : null;
  if (unknown !== null) return unknown;
  const storageId = store === null ? told : await deps.known.idOf(storage, store);
  deps.executor.cache.forget(streamName("retention", checkpoint));
  const result = await deps.executor.execute(identity, async (work) => {
    if ((await work.guard(holdables, checkpoint)) !== "kept") {
      return reject(
        "checkpoint_deleted",
        `checkpoint ${checkpoint} was deleted: choose another id`,
      );
    }
    const more = { ...(metadata && { metadata }), ...(storageId && { storageId }) };
    const about = { trial: "", run: 0, step: 0, storage, format };
    const declared = { ...about, ...more, uploadedBy: identity.meta.authid };
    const decided = await work.decide(checkpoints, checkpoint, { kind: "declare", declared });
    return isRejection(decided) ? decided : undefined;
  });
  if (isRejection(result)) return result;
  deps.events.declared(checkpoint);
  const { position } = result;
  return { checkpoint, path: path ?? "", position, store: store?.address ?? "" };
}
