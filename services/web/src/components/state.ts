/** The words, colours and icons of states: one table for experiments, trials, runs, tasks and checkpoints. */
import type { Checkpoint, Experiment, Run, Task, Trial } from "@trainyard/contracts/api";
import type { Plain } from "@trainyard/contracts";

/** The meaning of an icon and a colour. */
export type StateStyle =
  | "queued"
  | "starting"
  | "running"
  | "suspended"
  | "paused"
  | "stopping"
  | "completed"
  | "stopped-early"
  | "canceled"
  | "error";

export type ShownState = { readonly word: string; readonly look: StateStyle };

const shown = (word: string, look: StateStyle): ShownState => ({ word, look });

const experimentStates: Readonly<Record<string, ShownState>> = {
  ACTIVE: shown("active", "running"),
  PAUSED: shown("paused", "paused"),
  STOPPING_COMPLETED: shown("stopping", "stopping"),
  STOPPING_CANCELED: shown("canceling", "stopping"),
  STOPPING_KILLED: shown("killing", "stopping"),
  COMPLETED: shown("completed", "completed"),
  CANCELED: shown("canceled", "canceled"),
  ERROR: shown("error", "error"),
};

const runStates: Readonly<Record<string, ShownState>> = {
  QUEUED: shown("queued", "queued"),
  STARTING: shown("starting", "starting"),
  RUNNING: shown("running", "running"),
  STOPPING: shown("stopping", "stopping"),
};

const runEnds: Readonly<Record<string, ShownState>> = {
  finished: shown("finished", "completed"),
  acknowledged_stop: shown("stopped", "suspended"),
  failed: shown("failed", "error"),
  lost: shown("lost", "error"),
  invalid_hyperparameters: shown("invalid hyperparameters", "error"),
  killed: shown("killed", "canceled"),
  withdrawn: shown("withdrawn", "canceled"),
};

const checkpointStates: Readonly<Record<string, ShownState>> = {
  ACTIVE: shown("writing", "running"),
  COMPLETED: shown("complete", "completed"),
  PARTIALLY_DELETED: shown("partly deleted", "canceled"),
  DAMAGED: shown("damaged", "error"),
  ERROR: shown("error", "error"),
  CONDEMNED: shown("to be deleted", "stopping"),
  DELETED: shown("deleted", "canceled"),
};

const taskStates: Readonly<Record<string, ShownState>> = {
  ...runStates,
  PAUSED: shown("paused", "paused"),
  COMPLETED: shown("completed", "completed"),
  KILLED: shown("killed", "canceled"),
  ERROR: shown("error", "error"),
};

/** A state of a later version is shown by its name. */
const named = (table: Readonly<Record<string, ShownState>>, state: string): ShownState =>
  table[state] ?? shown(state.toLowerCase().replaceAll("_", " "), "queued");

export const experimentState = ({ state }: Pick<Plain<Experiment>, "state">): ShownState =>
  named(experimentStates, state);

export const taskState = ({ state }: Pick<Plain<Task>, "state">): ShownState =>
  named(taskStates, state);

export const checkpointState = ({ state }: Pick<Plain<Checkpoint>, "state">): ShownState =>
  named(checkpointStates, state);

export function runState({ state, whyEnded }: Pick<Plain<Run>, "state" | "whyEnded">): ShownState {
  return state === "ENDED" ? named(runEnds, whyEnded) : named(runStates, state);
}

/**
 * An active trial has the state of its latest run. Without a run it waits for its first; after a failed run it waits
 * for its next; after a run that the search stopped it is suspended. A completed trial that did not finish was stopped
 * early by the search.
 */
export function trialState({
  state,
  reason,
  runs,
}: Pick<Plain<Trial>, "state" | "reason" | "runs">): ShownState {
  if (state === "COMPLETED" && reason !== "" && reason !== "finished") {
    return shown("stopped early", "stopped-early");
  }
  if (state !== "ACTIVE") return named(experimentStates, state);
  const run = runs.at(-1);
  if (run === undefined) return shown("queued", "queued");
  if (run.state !== "ENDED") return named(runStates, run.state);
  return run.whyEnded === "acknowledged_stop"
    ? shown("suspended", "suspended")
    : shown("queued", "queued");
}
