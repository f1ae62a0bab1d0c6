/**
 * The one interface of all search algorithms. An algorithm decides on the start of the search and on each observation;
 * it reads no clock and no chance but `draw`. It folds its memory from the search's own events, so that it can be
 * rebuilt from them anywhere.
 */
import type { TrialOutcome } from "@trainyard/contracts/events";
import type { HyperparameterSpace, JsonObject, SearcherConfig } from "@trainyard/experiment-config";
import type { SearchEvent } from "./events.ts";
import type { RunningSearch, SearchPlan } from "./state.ts";
import type { UndoLog } from "./undo-log.ts";

export type Observation =
  | { readonly kind: "started" }
  /** A value of the metric, which may be not finite, at a time at which the trial had not been observed. */
  | {
      readonly kind: "validated";
      readonly trial: number;
      readonly time: number;
      readonly value: number;
    }
  /** Only to an algorithm that `takesCheckpoint`. */
  | { readonly kind: "checkpointed"; readonly trial: number }
  /** Only to an algorithm that `continues` (continuing.ts). */
  | { readonly kind: "continued" }
  | { readonly kind: "ended"; readonly trial: number; readonly outcome: TrialOutcome }
  /** A suggestion for the trial has come, which the algorithm's memory holds; or none has in time. */
  | { readonly kind: "suggested"; readonly trial: number }
  | { readonly kind: "unsuggested"; readonly trial: number; readonly waitedMs: number };

/**
 * Where a trial's hyperparameters come from: chance, the grid, a sequence that fills the space, the configuration's own
 * list of points, a model of the results, another trial's by a change, a process outside, or a recorded schedule.
 */
export type Origin =
  | "drawn"
  | "grid"
  | "space_filling"
  | "given"
  | "model"
  | "explored"
  | "client"
  | "schedule";

/** The hyperparameters of a trial to come, and what speaks for them. */
export type ProposedPoint = {
  readonly hyperparameters: JsonObject;
  readonly origin: Origin;
  readonly evidence?: JsonObject;
};

/** A suggestion for the search's next trial, by a model that knew the search as it was at a version of it. */
export type Suggestion = {
  readonly trial: number;
  readonly hyperparameters: JsonObject;
  readonly searchVersion: number;
  /** The results that the model had: trials that had ended by then. */
  readonly results: number;
  /** "model", or "space_filling" where the model found no place that the constraints allow. */
  readonly origin: Origin;
  /** The model's expectation. */
  readonly evidence: JsonObject;
};

/** The start of a trial: a checkpoint of another, with its steps and its time. */
export type StartFrom = {
  readonly trial: number;
  /** Null for the latest one, from where the new trial counts from 0. */
  readonly at: { readonly checkpoint: string; readonly step: number; readonly time: number } | null;
};

export type Decision =
  | (ProposedPoint & {
      readonly kind: "propose";
      readonly startFrom?: StartFrom;
      /** The trial's own seed, where it is not to be drawn. */
      readonly seed?: number;
      /** It is suspended from the first, until it is resumed. */
      readonly waits?: true;
    })
  | {
      readonly kind: "stop";
      readonly trial: number;
      readonly rule: string;
      readonly evidence: JsonObject;
      /** The trial ends as failed, with a reason made of rule and evidence, and not as stopped early. */
      readonly fails?: true;
    }
  /** No further trial is proposed. Trials that shall not continue need a stop of their own. */
  | {
      readonly kind: "finish";
      readonly rule: string;
      readonly evidence: JsonObject;
      /** The search ends as failed, whatever the outcomes of its trials. */
      readonly fails?: true;
    }
  | {
      readonly kind: "suspend";
      readonly trial: number;
      readonly rung: number;
      readonly rule: string;
      readonly evidence: JsonObject;
    }
  /** Continues from a rung until the target time; a trial that was not suspended just continues. */
  | {
      readonly kind: "resume";
      readonly trial: number;
      readonly target: number;
      readonly rung: number;
      readonly rule: string;
      readonly evidence: JsonObject;
    };

/** How many trials count, and how many may be unended and not suspended at one time (0: no limit). */
export type Size = { readonly trialsMax: number; readonly concurrentTrialsMax: number };

/**
 * A model that takes too long for a reaction. It is asked beside the log, and its suggestion comes as an input.
 * Question and answer are plain data: another thread may answer.
 */
export interface Model<Memory = unknown> {
  /** The current question; null for none. A function of the search alone, so that it is the same after a crash. */
  question(search: RunningSearch<Memory>): Question | null;
  /** The slow part: the same answer to the same question, on every machine. */
  answer(question: Question): Suggestion;
  /** Whether a place is free that waits for a suggestion. */
  waits(search: RunningSearch<Memory>): boolean;
  /** Whether the suggestion is recent enough. */
  takes(search: RunningSearch<Memory>, suggestion: Suggestion): boolean;
}

/** A question to a model: the next trial of a search, and the results of the trials before it. */
export type Question = {
  readonly plan: SearchPlan;
  readonly trial: number;
  readonly searchVersion: number;
  readonly results: number;
  /** In the form of the model itself. */
  readonly known: unknown;
};

/**
 * `Memory` is the algorithm's own: plain data, folded from the search's events. Methods, so that algorithms of all
 * memories fit one table; each is given back the memory that it made.
 */
export interface Algorithm<Memory = unknown> {
  readonly name: string;
  /**
   * Raised when the same history would be decided otherwise; the older version stays registered for the searches that
   * have it.
   */
  readonly version: number;
  /** It decides nothing by a trial's values, so that a validation without the metric harms nothing. */
  readonly ignoresValues?: true;
  /** Whether it learns from the trials of earlier searches (`plan.earlier`). */
  readonly learns?: true;
  sizeOf(config: SearcherConfig, space: HyperparameterSpace): Size;
  /** The memory of a search that has just started. */
  initial(plan: SearchPlan): Memory;
  /**
   * Changes the memory by an event of the search, through the undo log alone; `search` is as it was before the event.
   */
  apply(search: RunningSearch<Memory>, event: SearchEvent, undo: UndoLog): void;
  /** Whether a checkpoint of the trial at this step is new to it. Absent: it does not use checkpoints. */
  takesCheckpoint?(memory: Memory, trial: number, step: number): boolean;
  /**
   * The decisions after an observation, which has been applied already. Proposals are numbered in their order. What it
   * tries out through the undo log is taken back.
   */
  on(search: RunningSearch<Memory>, observation: Observation, undo: UndoLog): readonly Decision[];
  readonly model?: Model<Memory>;
  /** With nothing left to run it waits for a finish, and is then complete whatever the outcomes of its trials. */
  readonly endsWhenTold?: true;
}
