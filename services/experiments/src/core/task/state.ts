/**
 * A task's life: none → open → ended → deleted. An open task has exactly one unended run: its creation requests the
 * first one, and the end of a run is decided together with the next run or the end of the task.
 */
import type { EventOf, Plain } from "@trainyard/contracts";
import type { Resources } from "@trainyard/contracts/events";
import type { Tries } from "../trial/tries.ts";

export type TaskEvent = EventOf<
  | "TaskCreated"
  | "TaskKillRequested"
  | "TaskEnded"
  | "TaskDeleted"
  | "RunRequested"
  | "RunStarted"
  | "RunStopRequested"
  | "RunEnded"
>;

/** The parts of the recorded configuration that decisions depend on. */
export type TaskPlan = {
  readonly resources: Plain<Resources>;
  readonly preemptible: boolean;
  readonly maxRestarts: number;
};

export type TaskState = {
  readonly status: "none" | "open" | "ended" | "deleted";
  readonly plan: TaskPlan;
  readonly workspace: string;
  readonly owner: string;
  /** The number of runs that were requested. */
  readonly runs: number;
  /** The unended run; null if the task is not open. */
  readonly unended: { readonly startedAtMs: number | null } | null;
  readonly tries: Tries;
  /** Whether the last run's end counts as a restart once the next run is requested. */
  readonly countsAsRestart: boolean;
  /** The reason of a person who has the task killed; absent for none. */
  readonly kill?: string;
};
