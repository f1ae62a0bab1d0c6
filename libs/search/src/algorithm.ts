/**
 * The one interface of all search algorithms. An algorithm is told how the search starts and what is observed, and says
 * what it wants; it touches no event, no clock and no chance but `draw`. Its memory is what it folds from the search's
 * own events, so that it is rebuilt from them anywhere.
 */
import type { TrialOutcome } from "@trainyard/contracts/events";
import type {
  HyperparameterSpace,
  Json,
  JsonObject,
  SearcherConfig,
} from "@trainyard/experiment-config";
import type { SearchEvent } from "./events.ts";
import type { RunningSearch } from "./state.ts";

export type Observation =
  | { readonly kind: "started" }
  /** A value of the metric, which may be not finite, at a time at which the trial had not been observed. */
  | {
      readonly kind: "validated";
      readonly trial: number;
      readonly time: number;
      readonly value: number;
    }
  | { readonly kind: "ended"; readonly trial: number; readonly outcome: TrialOutcome };

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

export type Decision =
  | (ProposedPoint & {
      readonly kind: "propose";
      /** The trial whose checkpoint this one starts from. */
      readonly startFromTrial?: number;
    })
  | {
      readonly kind: "stop";
      readonly trial: number;
      readonly rule: string;
      readonly evidence: JsonObject;
      /** The trial ends as failed, with a reason made of rule and evidence, and not as stopped early. */
      readonly fails?: true;
    }
  /** No further trial is proposed. Who decides this also stops the trials that shall not go on. */
  | { readonly kind: "finish"; readonly rule: string; readonly evidence: JsonObject }
  | {
      readonly kind: "suspend";
      readonly trial: number;
      readonly rung: number;
      readonly rule: string;
      readonly evidence: JsonObject;
    }
  /** On from a rung until the target time; a trial that was not suspended just goes on. */
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

export type Algorithm = {
  readonly name: string;
  /** Raised when the same history would be decided otherwise; the older version stays registered for the searches that have it. */
  readonly version: number;
  readonly sizeOf: (config: SearcherConfig, space: HyperparameterSpace) => Size;
  /** The memory of a search that has just started. */
  readonly initial: (config: JsonObject, space: HyperparameterSpace, seed: number) => Json;
  /** Folds an event of the search into the memory; `search` is the state before the event, and must not be kept. */
  readonly evolve: (memory: Json, event: SearchEvent, search: RunningSearch) => Json;
  /** What follows from an observation; `search` has it folded in already. Proposals are numbered in their order. */
  readonly on: (search: RunningSearch, observation: Observation) => readonly Decision[];
};
