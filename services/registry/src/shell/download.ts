import { checkpointFolder, globMatcher } from "@trainyard/blob";
import type { Plain } from "@trainyard/contracts";
import type { DownloadPlan } from "@trainyard/contracts/commands";
import { assert, isCheckpointId, type Rejection, reject, streamName } from "@trainyard/kernel";
import { foldOf } from "@trainyard/runtime";
import type { Damage } from "../core/checkpoint/state.ts";
import type { CommandDeps } from "./commands.ts";
import { storageOf } from "./storages.ts";
import { checkpoints, retentions } from "../streams.ts";

/** Where a complete checkpoint is, and what it holds. */
export async function planDownload(
  { executor, manifests }: CommandDeps,
  checkpoint: string,
): Promise<Plain<DownloadPlan> | Rejection> {
  const unknown = reject("checkpoint_not_found", `there is no checkpoint ${checkpoint}`);
  if (!isCheckpointId(checkpoint)) return unknown;
  const { state } = await executor.cache.load(foldOf(checkpoints), checkpoint);
  const { declared, status } = state;
  if (declared === null) return unknown;
  if (status !== "completed") {
    const why = state.reason === "" ? "its files are being written" : state.reason;
    return reject("checkpoint_not_complete", `checkpoint ${checkpoint} is not complete: ${why}`);
  }
  if (state.damage !== null) return damaged(checkpoint, state.damage);
  executor.cache.forget(streamName("retention", checkpoint));
  const { deleted, globs } = (await executor.cache.load(retentions, checkpoint)).state;
  if (deleted) return reject("checkpoint_deleted", `checkpoint ${checkpoint} was deleted`);
  const isGone = globMatcher(globs);
  const manifest = (await manifests.get(state.manifestDigest)).filter(({ path }) => !isGone(path));
  const path = checkpointFolder(declared.storage ?? {}, checkpoint);
  assert(path !== null, `checkpoint ${checkpoint} was declared with a directory`);
  const { metadata } = declared;
  const storageId = await storageOf(executor, declared);
  const more = { ...(metadata && { metadata }), ...(storageId && { storageId }) };
  return { checkpoint, path, manifest, ...more };
}

function damaged(checkpoint: string, { problems, count }: Damage): Rejection {
  const told = problems.map(({ path, detail }) => ({ path, detail }));
  const [first] = told;
  const file = `the file ${JSON.stringify(first?.path ?? "")} ${first?.detail ?? "differs"}`;
  const more = count > 1 ? `, and ${count - 1} more problems` : "";
  return reject("checkpoint_damaged", `checkpoint ${checkpoint} is damaged: ${file}${more}`, told);
}
