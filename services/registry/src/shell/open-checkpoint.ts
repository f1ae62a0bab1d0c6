/** Checks that a checkpoint belongs to the run, or the person, that writes to it. */
import { isCheckpointId, type Rejection, reject, streamName } from "@trainyard/kernel";
import { foldOf } from "@trainyard/runtime";
import type { CheckpointState, Declared } from "../core/checkpoint/state.ts";
import { refusalOf } from "../core/foreign/trial.ts";
import { isSameRun, type Maker, makerOf, runOf } from "../core/maker.ts";
import { checkpoints, runsOf } from "../streams.ts";
import type { CommandDeps } from "./commands.ts";

/** The run that writes, or, without a trial and a task, the person who uploads a folder. */
type Owner = Maker & { readonly checkpoint: string };

type Deps = Pick<CommandDeps, "executor" | "hold">;

/** Returns the checkpoint of the run or person, or the rejection. */
export async function ownCheckpoint(
  { executor }: Pick<Deps, "executor">,
  owner: Owner,
  by = "",
): Promise<{ readonly state: CheckpointState; readonly declared: Declared } | Rejection> {
  const { checkpoint } = owner;
  const unknown = reject("checkpoint_not_found", `there is no checkpoint ${checkpoint}`);
  if (!isCheckpointId(checkpoint)) return unknown;
  const { state } = await executor.cache.load(foldOf(checkpoints), checkpoint);
  const { declared } = state;
  if (declared === null) return unknown;
  const isOwn = makerOf(owner) === "" ? declared.uploadedBy === by : isSameRun(declared, owner);
  if (isOwn) return { state, declared };
  const other = declared.uploadedBy ?? `run ${runOf(declared)}`;
  return reject("not_your_run", `checkpoint ${checkpoint} belongs to ${other}`);
}

/** The reason that the run may no longer write the checkpoint; null while it may, and for a person. */
export async function refusalOfRun(
  { executor, hold }: Deps,
  owner: Owner,
): Promise<Rejection | null> {
  if (makerOf(owner) === "") return null;
  const { fold, id } = runsOf(owner);
  // The cached state of another service's stream may be stale, and no guard protects a refusal.
  executor.cache.forget(streamName(fold.category, id));
  const runs = (await executor.cache.load(fold, id)).state;
  return unlessHeld(hold, refusalOf(runs, owner, owner.checkpoint));
}

/**
 * Returns the refusal, or null for that of an ended run while deletions are held: the log went back, and agents offer
 * complete checkpoints again that it has lost.
 */
export async function unlessHeld(
  hold: Pick<CommandDeps["hold"], "reason">,
  refusal: Rejection | null,
): Promise<Rejection | null> {
  if (refusal?.rejected !== "run_ended") return refusal;
  return (await hold.reason()) === null ? refusal : null;
}
