/** What is asked of a checkpoint before its own run writes to it. */
import { isCheckpointId, type Rejection, reject, streamName } from "@trainyard/kernel";
import { foldOf } from "@trainyard/runtime";
import type { CheckpointState, Declared } from "../core/checkpoint/state.ts";
import { refusalOf } from "../core/foreign/trial.ts";
import { checkpoints, trialRuns } from "../streams.ts";
import type { CommandDeps } from "./commands.ts";

type Owner = { readonly checkpoint: string; readonly trial: string; readonly run: number };

type Deps = Pick<CommandDeps, "executor">;

/** The checkpoint of a run, or why it is not that run's. */
export async function ownCheckpoint(
  { executor }: Deps,
  { checkpoint, trial, run }: Owner,
): Promise<{ readonly state: CheckpointState; readonly declared: Declared } | Rejection> {
  const unknown = reject("checkpoint_not_found", `there is no checkpoint ${checkpoint}`);
  if (!isCheckpointId(checkpoint)) return unknown;
  const { state } = await executor.cache.load(foldOf(checkpoints), checkpoint);
  const { declared } = state;
  if (declared === null) return unknown;
  if (declared.trial === trial && declared.run === run) return { state, declared };
  const owner = `${declared.trial}#${declared.run}`;
  return reject("not_your_run", `checkpoint ${checkpoint} is run ${owner}'s`);
}

/** Why the run writes the checkpoint no more; null while it may. */
export async function refusalOfRun(
  { executor }: Deps,
  { checkpoint, trial, run }: Owner,
): Promise<Rejection | null> {
  // What is known of another's stream may be a moment old, and nothing guards a refusal.
  executor.cache.forget(streamName("trial", trial));
  const runs = (await executor.cache.load(trialRuns, trial)).state;
  return refusalOf(runs, trial, run, checkpoint);
}
