/**
 * The checkpoints that a run may read: while its trial lives those of its experiment, and those that its configuration,
 * its hyperparameters or its start name. After the trial's end only those of its trial, to learn what is stored of
 * them. The run of a task may read the saves of its task. As a user it may read checkpoints of trials and folders too,
 * and no save of another task.
 */
import { isCheckpointId, isTaskId, parseTrialId } from "@trainyard/kernel";
import type { FoldCache } from "@trainyard/runtime";
import type { Backend } from "../../backend.ts";
import { asUser, type Caller, type TaskRunCaller } from "../../http/caller.ts";
import { Problem } from "../../http/problem.ts";
import { checkpointMakers, checkpointsOfConfig, checkpointsOfTrial, stops } from "../../streams.ts";

/** Throws a Problem of 403 if the caller is a run that may not read the checkpoint. */
export async function refuseForeign(
  backend: Backend,
  checkpoint: string,
  caller: Caller,
): Promise<void> {
  if (caller.kind !== "run") return;
  const { cache } = backend.parts.executor;
  if (caller.task !== null) return refuseForeignSave(cache, checkpoint, caller);
  const { state: maker, version } = await cache.load(checkpointMakers, checkpoint);
  // The registry answers for a checkpoint that nobody has declared.
  if (version === 0 || maker === caller.trial) return;
  if ((await cache.load(stops, caller.trial)).state.hasEnded) {
    const detail = `trial ${caller.trial} has ended: its run reads no checkpoint of others`;
    throw new Problem(403, "trial_ended", detail);
  }
  if (maker !== "" && parseTrialId(maker)?.experiment === caller.experiment) return;
  const named = await Promise.all([
    cache.load(checkpointsOfTrial, caller.trial),
    cache.load(checkpointsOfConfig, caller.experiment),
  ]);
  if (named.some(({ state }) => state.has(checkpoint))) return;
  const detail = `checkpoint ${checkpoint} is another experiment's: name it in the configuration or in a hyperparameter, so that this run may read it`;
  throw new Problem(403, "not_your_checkpoint", detail);
}

async function refuseForeignSave(
  cache: FoldCache,
  checkpoint: string,
  caller: TaskRunCaller,
): Promise<void> {
  const { task } = caller;
  const { state: maker, version } = await cache.load(checkpointMakers, checkpoint);
  // The registry answers for a checkpoint that nobody has declared.
  if (version === 0 || maker === task) return;
  const detail = `checkpoint ${checkpoint} is no save of ${task}: the run of a task reads its own saves`;
  const refusal = new Problem(403, "not_your_checkpoint", detail);
  if (isTaskId(maker)) throw refusal;
  await asUser(caller, refusal);
}

/** Throws a Problem of 403 if the run of a task, as a user, names a save of another task. */
export async function refuseSaveOfOthers(
  { parts }: Backend,
  checkpoint: string,
  caller: Caller,
): Promise<void> {
  if (caller.kind !== "user" || caller.run === null || !isCheckpointId(checkpoint)) return;
  const { state: maker } = await parts.executor.cache.load(checkpointMakers, checkpoint);
  if (!isTaskId(maker) || maker === caller.run.task) return;
  const detail = `checkpoint ${checkpoint} is a save of ${maker}, another task`;
  throw new Problem(403, "not_your_checkpoint", detail);
}
