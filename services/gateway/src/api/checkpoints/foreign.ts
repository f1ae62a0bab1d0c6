/**
 * The checkpoints that a run may read: while its trial lives those of its experiment, and those of its workspace that
 * its configuration, its hyperparameters or its start name. After the trial's end only those of its trial, to learn
 * what is stored of them. The run of a task may read the saves of its task. As a user it may read checkpoints of trials
 * and folders that its task's owner may see, and no save of another task.
 */
import { isTaskId, parseTrialId } from "@trainyard/kernel";
import { checkpointMakers } from "@trainyard/outbound";
import type { Backend } from "../../backend.ts";
import { asUser, type Caller, type TaskRunCaller } from "../../http/caller.ts";
import { Problem } from "../../http/problem.ts";
import { requireFor } from "../rights/guard.ts";
import { findObject } from "../rights/objects.ts";
import { requireInOwnWorkspace } from "../rights/runs.ts";
import { checkpointsOfConfig, checkpointsOfTrial, stops } from "../../streams.ts";

/** Throws a Problem of 403 if the caller is a run that may not read the checkpoint. */
export async function refuseForeign(
  backend: Backend,
  checkpoint: string,
  caller: Caller,
): Promise<void> {
  if (caller.kind !== "run") return;
  const { cache } = backend.parts.executor;
  if (caller.task !== null) return refuseForeignSave(backend, checkpoint, caller);
  const { state: maker, version } = await cache.load(checkpointMakers, checkpoint);
  // The registry answers for a checkpoint that nobody has declared.
  if (version === 0 || maker === caller.trial) return;
  const isOwn = maker !== "" && parseTrialId(maker)?.experiment === caller.experiment;
  if (!isOwn) await requireInOwnWorkspace(backend, checkpoint, caller);
  if ((await cache.load(stops, caller.trial)).state.hasEnded) {
    const detail = `trial ${caller.trial} has ended: its run reads no checkpoint of others`;
    throw new Problem(403, "trial_ended", detail);
  }
  if (isOwn) return;
  const named = await Promise.all([
    cache.load(checkpointsOfTrial, caller.trial),
    cache.load(checkpointsOfConfig, caller.experiment),
  ]);
  if (named.some(({ state }) => state.has(checkpoint))) return;
  const detail = `checkpoint ${checkpoint} is another experiment's: name it in the configuration or in a hyperparameter, so that this run may read it`;
  throw new Problem(403, "not_your_checkpoint", detail);
}

async function refuseForeignSave(
  backend: Backend,
  checkpoint: string,
  caller: TaskRunCaller,
): Promise<void> {
  const { task } = caller;
  const { access, executor } = backend.parts;
  const { state: maker, version } = await executor.cache.load(checkpointMakers, checkpoint);
  // The registry answers for a checkpoint that nobody has declared.
  if (version === 0 || maker === task) return;
  const detail = `checkpoint ${checkpoint} is no save of ${task}: the run of a task reads its own saves`;
  const refusal = new Problem(403, "not_your_checkpoint", detail);
  if (isTaskId(maker)) throw refusal;
  const rights = await access.rightsOf(await asUser(caller, refusal));
  if (rights.everywhere("experiment_view")) return;
  const found = await findObject(backend, "checkpoint", checkpoint);
  requireFor(rights, "experiment_view", "checkpoint", checkpoint, found);
}
