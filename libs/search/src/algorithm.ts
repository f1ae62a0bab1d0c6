/**
 * The interface of all search algorithms. An algorithm decides at the start of the search and at each observation. It
 * uses no clock, and no randomness except `draw`. It folds its memory from the search's events, so that the memory can
 * be rebuilt from them anywhere.
 */
import type { TrialOutcome } from "@trainyard/contracts/events";
import type { HyperparameterSpace, JsonObject, SearcherConfig } from "@trainyard/experiment-config";
import type { SearchEvent } from "./events.ts";
import type { PlannedTraining } from "./planned.ts";
import type { RuleName } from "./sentences.ts";
import type { RunningSearch, SearchPlan } from "./state.ts";
import type { UndoLog } from "./undo-log.ts";

export type Observation =
  | { readonly kind: "started" }
  /** The first value of the metric, perhaps not finite, at this time of the trial. */
  | {
      readonly kind: "validated";
      readonly trial: number;
      readonly time: number;
      readonly value: number;
    }
  /** Sent only to an algorithm that has `takesCheckpoint`. */
  | { readonly kind: "checkpointed"; readonly trial: number }
  /** Sent only to the algorithm of a searcher that `continues` (`searcherFacts`). */
  | { readonly kind: "continued" }
  | { readonly kind: "ended"; readonly trial: number; readonly outcome: TrialOutcome }
  /** A suggestion for the trial arrived and is in the memory, or none arrived in time (`unsuggested`). */
  | { readonly kind: "suggested"; readonly trial: number }
  | { readonly kind: "unsuggested"; readonly trial: number; readonly waitedMs: number };

/**
 * The origin of a trial's hyperparameters: random draws, the grid, a sequence that fills the space, points in the
 * configuration, a model of the results, a mutation of another trial, the client, or a recorded schedule.
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

/** The hyperparameters of a new trial, and the evidence for them. */
export type ProposedPoint = {
  readonly hyperparameters: JsonObject;
  readonly origin: Origin;
  readonly evidence?: JsonObject;
};

/** A model's suggestion for the search's next trial, computed from the search at one version. */
export type Suggestion = {
  readonly trial: number;
  readonly hyperparameters: JsonObject;
  readonly searchVersion: number;
  /** The number of results that the model had: trials that had ended. */
  readonly results: number;
  /** `model`, or `space_filling` if the model found no point that the constraints allow. */
  readonly origin: Origin;
  /** The values that the model predicted. */
  readonly evidence: JsonObject;
};

/** The checkpoint of another trial from which a trial starts, with its steps and time. */
export type StartFrom = {
  readonly trial: number;
  /** Null for the donor's latest checkpoint, from which the new trial counts its steps and time from 0. */
  readonly at: { readonly checkpoint: string; readonly step: number; readonly time: number } | null;
};

export type Decision =
  | (ProposedPoint & {
      readonly kind: "propose";
      readonly startFrom?: StartFrom;
      /** The trial's seed, if it is given and not drawn. */
      readonly seed?: number;
      /** Whether the trial is suspended from its start until it is resumed. */
      readonly waits?: true;
    })
  | {
      readonly kind: "stop";
      readonly trial: number;
      readonly rule: RuleName;
      readonly evidence: JsonObject;
      /** Whether the trial ends as failed, with `rule` and `evidence` as the reason, and not as stopped early. */
      readonly fails?: true;
    }
  /** Ends the proposals: running trials continue unless they are stopped, too. */
  | {
      readonly kind: "finish";
      readonly rule: RuleName;
      readonly evidence: JsonObject;
      /** Whether the search ends as failed, whatever the outcomes of its trials. */
      readonly fails?: true;
    }
  | {
      readonly kind: "suspend";
      readonly trial: number;
      readonly rung: number;
      readonly rule: RuleName;
      readonly evidence: JsonObject;
    }
  /** Lets a trial train until the target time, from its rung if it was suspended. */
  | {
      readonly kind: "resume";
      readonly trial: number;
      readonly target: number;
      readonly rung: number;
      readonly rule: RuleName;
      readonly evidence: JsonObject;
    };

/** The most trials of the search, and the most that may run at a time (0: no limit). */
export type Size = { readonly trialsMax: number; readonly concurrentTrialsMax: number };

/**
 * A model that is too slow for a reaction. A side loop asks it, and its suggestion comes back as an input. Question and
 * answer are plain data, so that another thread may answer.
 */
export interface Model<Memory = unknown> {
  /** Returns the current question, or null. It depends only on the search, so it is the same after a crash. */
  question(search: RunningSearch<Memory>): Question | null;
  /** Answers the question, which may be slow; the same question has the same answer on every machine. */
  answer(question: Question): Suggestion;
  /** Whether a free place waits for a suggestion. */
  waits(search: RunningSearch<Memory>): boolean;
  /** Whether the suggestion is recent enough to be used. */
  takes(search: RunningSearch<Memory>, suggestion: Suggestion): boolean;
}

/** The input of a model: the next trial of a search, and the results of the trials before it. */
export type Question = {
  readonly plan: SearchPlan;
  readonly trial: number;
  readonly searchVersion: number;
  readonly results: number;
  /** The known results in the model's own format. */
  readonly known: unknown;
};

/**
 * `Memory` is the algorithm's state: plain data, folded from the search's events. The members are methods, so that one
 * table can contain algorithms with different memories; each gets only memories that it made itself.
 */
export interface Algorithm<Memory = unknown> {
  readonly name: string;
  /**
   * The version is raised when the algorithm would decide differently on the same history. Searches with the older
   * version keep it.
   */
  readonly version: number;
  /** Whether no decision depends on a trial's values, so that a validation without the metric is harmless. */
  readonly ignoresValues?: true;
  /** Whether the algorithm learns from the trials of earlier searches (`plan.earlier`). */
  readonly learns?: true;
  sizeOf(config: SearcherConfig, space: HyperparameterSpace): Size;
  /** The training that the preview of a search shows. */
  planned(config: SearcherConfig, space: HyperparameterSpace): PlannedTraining;
  /** The memory of a search that has just started. */
  initial(plan: SearchPlan): Memory;
  /** Applies an event to the memory, with all changes in the undo log; `search` is the search before the event. */
  apply(search: RunningSearch<Memory>, event: SearchEvent, undo: UndoLog): void;
  /** Whether the trial's checkpoint at this step is news; absent if the algorithm does not use checkpoints. */
  takesCheckpoint?(memory: Memory, trial: number, step: number): boolean;
  /**
   * Returns the decisions after an observation, which is already applied. Proposals are numbered in order. Temporary
   * changes in the undo log are undone.
   */
  on(search: RunningSearch<Memory>, observation: Observation, undo: UndoLog): readonly Decision[];
  readonly model?: Model<Memory>;
  /**
   * Whether the search waits for a finish when no trial runs, and is then complete whatever the outcomes of its trials.
   */
  readonly endsWhenTold?: true;
}
