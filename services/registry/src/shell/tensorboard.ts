/**
 * TensorBoard files of a trial in its experiment's object store: `tensorboard/experiment/<e>/trial/<t>/<path>` below the
 * prefix, as on a directory; no checkpoint has such a name. A file that has grown takes the place of the shorter one; that of
 * an earlier run takes the place of none, since it may be a newer run's.
 */
import type { Claim, ObjectStore } from "@trainyard/blob";
import type { Plain } from "@trainyard/contracts";
import type { FileUploads, ManifestEntry, PlanTensorBoard } from "@trainyard/contracts/commands";
import { parseTrialId, type Rejection, reject, streamName } from "@trainyard/kernel";
import { registryLimits } from "../limits.ts";
import { experimentStorage, trialRuns } from "../streams.ts";
import type { CommandDeps } from "./commands.ts";
import { storeOf } from "./declare.ts";
import { inLanes } from "./in-lanes.ts";
import { claimOf, digestsOf, messageOf, problemOf } from "./upload.ts";

export async function planTensorBoard(
  deps: CommandDeps,
  { trial, run, files: asked }: Plain<PlanTensorBoard>,
): Promise<Plain<FileUploads> | Rejection> {
  const parts = parseTrialId(trial);
  const problem = problemOf(asked);
  if (problem !== null) return problem;
  // What is known of another's stream may be a moment old.
  deps.executor.cache.forget(streamName("trial", trial));
  const { newest } = (await deps.executor.cache.load(trialRuns, trial)).state;
  // An earlier run's last files may come after the next run has begun.
  if (parts === null || run > newest)
    return reject("run_not_found", `there is no run ${trial}#${run}`);
  const { state: experiment } = await deps.executor.cache.load(experimentStorage, parts.experiment);
  if (experiment.deleted) {
    return reject("run_not_found", `the experiment of run ${trial}#${run} was deleted`);
  }
  const store = await storeOf(deps, parts.experiment);
  if (store === null) {
    return reject("storage_unsupported", `experiment ${parts.experiment} stores in a directory`);
  }
  const below = `tensorboard/experiment/${parts.experiment}/trial/${trial}`;
  const claim = claimOf(registryLimits.partsPlannedMax);
  const plan = async (entry: Plain<ManifestEntry>) => {
    const key = `${below}/${entry.path}`;
    const stays = run < newest && (await store.head(key)) !== null;
    const planned = stays ? [] : await missing(store, key, entry, claim);
    const left = planned.map(({ offset, bytes, request }) => {
      return { offset, bytes, request: messageOf(request, deps.clock) };
    });
    return { path: entry.path, parts: left };
  };
  const lanes = () => inLanes(asked, registryLimits.objectsAtOnce, plan);
  return { files: await deps.brake.ask(store, lanes) };
}

/** Nobody completes these files: one that was sent in parts becomes an object here. */
async function missing(store: ObjectStore, key: string, entry: Plain<ManifestEntry>, claim: Claim) {
  const { missing, parts } = await store.planUpload(key, digestsOf(entry), { claim });
  if (missing.parts === 0 && entry.bytes > store.partBytes) {
    await store.finishUpload(key, digestsOf(entry));
  }
  return parts;
}
