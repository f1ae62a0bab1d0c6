import { checkpointFolder, globMatcher } from "@trainyard/blob";
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
import type { CheckpointState, Damage, Declared } from "../core/checkpoint/state.ts";
import type { CommandDeps } from "./commands.ts";
import { storageOf } from "./storages.ts";
import { checkpoints, retentions } from "../streams.ts";

/** Returns the place and the manifest of a complete checkpoint. */
export async function planDownload(
  deps: CommandDeps,
  checkpoint: string,
): Promise<Plain<DownloadPlan> | Rejection> {
  const complete = await completeCheckpointOf(deps, checkpoint);
  if (isRejection(complete)) return complete;
  const { state, declared, isGone } = complete;
  const storage = declared.storage ?? {};
  const whole = await deps.manifests.get(checkpoint, state.manifestDigest);
  const manifest = whole.filter((file) => !isGone(file.path));
  const entries = manifest.map((file) => ({ ...file, partSha256: [], md5: "" }));
  const store = await deps.stores.of(storage);
  const path = checkpointFolder(storage, checkpoint);
  assert(store !== null || path !== null, `checkpoint ${checkpoint} was declared with a storage`);
  const { metadata } = declared;
  const storageId = await storageOf(deps.executor, declared);
  const more = { ...(metadata && { metadata }), ...(storageId && { storageId }) };
  return { checkpoint, path: path ?? "", store: store?.address ?? "", manifest: entries, ...more };
}

type Complete = {
  readonly state: CheckpointState;
  readonly declared: Declared;
  /** Reports whether a person had the file deleted. */
  readonly isGone: (path: string) => boolean;
};

/** Returns a readable checkpoint, or the rejection. */
export async function completeCheckpointOf(
  { executor }: Pick<CommandDeps, "executor">,
  checkpoint: string,
): Promise<Complete | Rejection> {
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
  return { state, declared, isGone: globMatcher(globs) };
}

function damaged(checkpoint: string, { problems, count }: Damage): Rejection {
  const told = problems.map(({ path, detail }) => ({ path, detail }));
  const [first] = told;
  const file = `the file ${JSON.stringify(first?.path ?? "")} ${first?.detail ?? "differs"}`;
  const more = count > 1 ? `, and ${count - 1} more problems` : "";
  return reject("checkpoint_damaged", `checkpoint ${checkpoint} is damaged: ${file}${more}`, told);
}
