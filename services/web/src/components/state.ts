/** The states of objects as the badges show them: the words of all clients, with a look each. */
import type { Checkpoint, Experiment, Task, Trial } from "@trainyard/contracts/api";
import type { Plain } from "@trainyard/contracts";
import {
  type ShownState,
  shownCheckpointState,
  shownPhase,
  shownRunState,
  shownTaskState,
} from "@trainyard/contracts/state-words";

export type { ShownState, StateStyle } from "@trainyard/contracts/state-words";

type Phased<Of extends { readonly state: string; readonly phase: string }> = Pick<Of, "state"> &
  Partial<Pick<Of, "phase">>;

export const experimentState = (experiment: Phased<Plain<Experiment>>): ShownState =>
  shownPhase(experiment);

export const trialState = (trial: Phased<Plain<Trial>>): ShownState => shownPhase(trial);

/** Returns why the latest run waits for its place; empty if it does not wait. */
export function waitOf({
  runs,
}: {
  readonly runs: readonly { readonly waitsFor: string }[];
}): string {
  return runs.at(-1)?.waitsFor ?? "";
}

export const taskState = ({ state }: Pick<Plain<Task>, "state">): ShownState =>
  shownTaskState(state);

export const checkpointState = ({ state }: Pick<Plain<Checkpoint>, "state">): ShownState =>
  shownCheckpointState(state);

export const runState = shownRunState;
