/**
 * The words for states and the meaning of each: one table for the API's `phase`, which yard and `trainyard` print, and
 * for the icons and colours of the Web UI.
 */
import type { Run, Trial } from "./gen/api.ts";
import type { Plain } from "./plain.ts";

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

const queued = shown("queued", "queued");
const starting = shown("starting", "starting");
const running = shown("running", "running");
const suspended = shown("suspended", "suspended");
const stoppedEarly = shown("stopped early", "stopped-early");

/** The states of experiments and trials, without those that depend on their runs. */
const states: Readonly<Record<string, ShownState>> = {
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
  QUEUED: queued,
  STARTING: starting,
  RUNNING: running,
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

export const shownTaskState = (state: string): ShownState => named(taskStates, state);

export const shownCheckpointState = (state: string): ShownState => named(checkpointStates, state);

export function shownRunState({
  state,
  whyEnded,
}: Pick<Plain<Run>, "state" | "whyEnded">): ShownState {
  return state === "ENDED" ? named(runEnds, whyEnded) : named(runStates, state);
}

export type ExperimentActivity = {
  readonly state: string;
  /** The number of runs that train, or that are being ended. */
  readonly running: number;
  /** The number of runs that have their slots and do not train yet. */
  readonly starting: number;
};

/** An active experiment runs if one of its runs does; else it starts, or waits for slots. */
export function experimentPhase({ state, running: runs, starting: starts }: ExperimentActivity) {
  if (state !== "ACTIVE") return named(states, state);
  if (runs > 0) return running;
  return starts > 0 ? starting : queued;
}

export type TrialActivity = Pick<Plain<Trial>, "state" | "reason"> & {
  readonly runs: readonly Pick<Plain<Run>, "state" | "whyEnded">[];
  /** The rung, counted from 1, at which the search suspended the trial; absent for none. */
  readonly suspendedAtRung?: number | undefined;
};

/**
 * An active trial has the state of its latest run. Without a run it waits for its first; after a failed run it waits
 * for its next; after a run that the search stopped it is suspended. A completed trial that did not finish was stopped
 * early by the search.
 */
export function trialPhase({ state, reason, runs, suspendedAtRung }: TrialActivity): ShownState {
  if (state === "COMPLETED" && reason !== "" && reason !== "finished") return stoppedEarly;
  if (state !== "ACTIVE") return named(states, state);
  const run = runs.at(-1);
  if (run !== undefined && run.state !== "ENDED") return named(runStates, run.state);
  if (suspendedAtRung !== undefined) return shown(atRung(suspendedAtRung), "suspended");
  return run?.whyEnded === "acknowledged_stop" ? suspended : queued;
}

const atRung = (rung: number): string => `${suspended.word} at rung ${rung}`;
const rungSuffix = / at rung \d+$/;

const phases: ReadonlyMap<string, ShownState> = new Map(
  [...Object.values(states), ...Object.values(runStates), suspended, stoppedEarly].map((one) => [
    one.word,
    one,
  ]),
);

/** Shows the `phase` of an experiment or a trial; an answer without it by its state. */
export function shownPhase({
  phase,
  state,
}: {
  readonly phase?: string | undefined;
  readonly state: string;
}): ShownState {
  if (phase === undefined || phase === "") return named(states, state);
  return { word: phase, look: phases.get(phase.replace(rungSuffix, ""))?.look ?? "queued" };
}
