import { checkpointFolder } from "@trainyard/blob";
import type { Plain } from "@trainyard/contracts";
import type { DownloadPlan } from "@trainyard/contracts/commands";
import {
  assert,
  isCheckpointId,
  isRejection,
  type Rejection,
  reject,
  streamName,
} from "@trainyard/kernel";
import { foldOf } from "@trainyard/runtime";
import type { CheckpointState, Declared } from "../core/checkpoint/state.ts";
import type { CommandDeps } from "./commands.ts";
import { storageOf } from "./storages.ts";
import { checkpoints, retentions } from "../streams.ts";

/** Where a complete checkpoint is, and what it holds. */
export async function planDownload(
  deps: CommandDeps,
  checkpoint: string,
): Promise<Plain<DownloadPlan> | Rejection> {
  const complete = await completeCheckpointOf(deps, checkpoint);
  if (isRejection(complete)) return complete;
  const { state, declared } = complete;
  const storage = declared.storage ?? {};
  const manifest = await deps.manifests.get(state.manifestDigest);
  const entries = manifest.map((file) => ({ ...file, partSha256: [], md5: "" }));
  const store = await deps.stores.of(storage);
  const path = checkpointFolder(storage, checkpoint);
  assert(store !== null || path !== null, `checkpoint ${checkpoint} was declared with a storage`);
  const { metadata } = declared;
  const storageId =
    store === null ? await storageOf(deps.executor, declared) : (declared.storageId ?? "");
  const more = { ...(metadata && { metadata }), ...(storageId && { storageId }) };
  return { checkpoint, path: path ?? "", store: store?.address ?? "", manifest: entries, ...more };
}

/** A checkpoint that can be read, or why it cannot. */
export async function completeCheckpointOf(
  { executor }: Pick<CommandDeps, "executor">,
  checkpoint: string,
): Promise<{ readonly state: CheckpointState; readonly declared: Declared } | Rejection> {
  const unknown = reject("checkpoint_not_found", `there is no checkpoint ${checkpoint}`);
  if (!isCheckpointId(checkpoint)) return unknown;
  const { state } = await executor.cache.load(foldOf(checkpoints), checkpoint);
  const { declared, status } = state;
  if (declared === null) return unknown;
  if (status !== "completed") {
    const why = state.reason === "" ? "its files are being written" : state.reason;
    return reject("checkpoint_not_complete", `checkpoint ${checkpoint} is not complete: ${why}`);
  }
  executor.cache.forget(streamName("retention", checkpoint));
  const { deleted } = (await executor.cache.load(retentions, checkpoint)).state;
  if (deleted) return reject("checkpoint_deleted", `checkpoint ${checkpoint} was deleted`);
  return { state, declared };
}
