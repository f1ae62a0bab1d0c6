/** Plans how to read a trial's TensorBoard files from their object store. */
import type { Plain } from "@trainyard/contracts";
import type {
  FileDownload,
  PlanTensorBoardDownload,
  TensorBoardFiles,
} from "@trainyard/contracts/commands";
import { isRejection, parseTrialId, type Rejection, reject } from "@trainyard/kernel";
import { staysInside } from "../core/manifest.ts";
import { registryLimits } from "../limits.ts";
import { experimentStorage } from "../streams.ts";
import type { CommandDeps } from "./commands.ts";
import { folderOfTrial, storeOfTensorBoards } from "./tensorboard.ts";
import { messageOf } from "./upload.ts";

/** Returns one page of the current files, sorted by path. */
export async function planTensorBoardDownload(
  deps: CommandDeps,
  { trial, after }: Plain<PlanTensorBoardDownload>,
): Promise<Plain<TensorBoardFiles> | Rejection> {
  const experiment = parseTrialId(trial)?.experiment;
  if (experiment === undefined) return reject("trial_not_found", `there is no trial ${trial}`);
  const { state } = await deps.executor.cache.load(experimentStorage, experiment);
  const store = await storeOfTensorBoards(deps, experiment, state);
  if (isRejection(store)) return store;
  const below = `${await folderOfTrial(deps, experiment, trial)}/`;
  return deps.brake.ask(store, async () => {
    const files: Plain<FileDownload>[] = [];
    for await (const { key, bytes, writtenAtMs: changedAtMs } of store.list(below)) {
      const path = key.slice(below.length);
      // Other programs may have written to the bucket.
      if (!(key > below + after) || !staysInside(path)) continue;
      const request = messageOf(await store.planDownload(key), deps.clock);
      files.push({ path, request, bytes, changedAtMs });
      if (files.length === registryLimits.filesPlannedMax) break;
    }
    return { files };
  });
}
