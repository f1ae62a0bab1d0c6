/**
 * A task's life: none → open → ended → deleted, and from ended back to open if it is resumed. Its creation requests the
 * first run, and the end of a run is decided together with the next run or the end of the task. So an open task has
 * exactly one unended run, except while a task that keeps its work waits for the saves that its last run has left.
 */
import type { EventOf, Plain } from "@trainyard/contracts";
import type { Fault, Resources } from "@trainyard/contracts/events";
import type { Tries } from "../trial/tries.ts";

export type TaskEvent = EventOf<
  | "TaskCreated"
  | "TaskKillRequested"
  | "TaskPauseRequested"
  | "TaskSaved"
  | "TaskResumed"
  | "TaskEnded"
  | "TaskDeleted"
  | "RunRequested"
  | "RunStarted"
  | "RunStopRequested"
  | "RunEnded"
  | "RunCheckpointsNamed"
>;

/** The parts of the recorded configuration that decisions depend on. */
export type TaskPlan = {
  readonly resources: Plain<Resources>;
  readonly preemptible: boolean;
  readonly maxRestarts: number;
  /** Whether the task's folder is saved, so that later runs start from it. */
  readonly keepsWork: boolean;
};

/** A complete save. Later ones have larger steps. */
export type Save = { readonly checkpoint: string; readonly step: number };

export type TaskState = {
  readonly status: "none" | "open" | "ended" | "deleted";
  readonly plan: TaskPlan;
  readonly workspace: string;
  readonly owner: string;
  /** The number of runs that were requested. */
  readonly runs: number;
  /** Whether a run has ever started. Nothing of a task without one can be lost. */
  readonly hasStarted: boolean;
  /** The unended run; null if the task is not open, or waits for saves. */
  readonly unended: { readonly startedAtMs: number | null } | null;
  readonly tries: Tries;
  /** Whether the last run's end counts as a restart once the next run is requested. */
  readonly countsAsRestart: boolean;
  /** The cause of the last run's failure; absent if it did not fail. */
  readonly fault?: Fault;
  /** The latest complete saves, by step; at most `limits.checkpointsRemembered`. */
  readonly saves: readonly Save[];
  /** The saves that the last run has left and that are not complete yet. */
  readonly named: readonly string[];
  /** The next run waits for the named saves until this time; 0 for no wait. */
  readonly awaitedUntilMs: number;
  /** The reason of a person who has the task killed; absent for none. */
  readonly kill?: string;
  /** The reason of a person who has the task paused; absent for none. */
  readonly pause?: string;
};
