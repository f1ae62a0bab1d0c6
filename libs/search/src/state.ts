/** The state of one search: a fold of its own events. Its JSON text is the snapshot. */
import { TrialOutcome } from "@trainyard/contracts/events";
import type {
  EarlyStoppingPolicy,
  HyperparameterSpace,
  Json,
  JsonObject,
} from "@trainyard/experiment-config";
import type { PoliciesMemory } from "./policies/memory.ts";
import type { TrialState } from "./trial-state.ts";
import type { EarlierTrial } from "./earlier.ts";
import { emptyVector, itemAt, type Vector } from "./persistent/vector.ts";

export type { TrialState, TrialWanted } from "./trial-state.ts";

/** What was decided when the search started, and holds for all of it. */
export type SearchPlan = {
  readonly algorithm: string;
  readonly algorithmVersion: number;
  /** The searcher section of the configuration. */
  readonly searcher: JsonObject;
  readonly space: HyperparameterSpace;
  readonly spaceBytes: number;
  readonly metric: string;
  readonly smallerIsBetter: boolean;
  /** The name of the value that counts as time; empty for the training step. */
  readonly timeMetric: string;
  readonly seed: number;
  /** Trials of earlier searches, each with a finite value of the metric at a point of the space. */
  readonly earlier: readonly EarlierTrial[];
  /** Trials that count. */
  readonly trialsMax: number;
  /** Trials unended and not suspended at one time; 0 for no limit. */
  readonly concurrentTrialsMax: number;
  readonly earlyStopping: readonly EarlyStoppingPolicy[];
  /** Where trials are stopped that would train to the end of their code; null for nowhere. */
  readonly maxTime: number | null;
  readonly slotsPerTrial: number;
};

export type Best = { readonly trial: number; readonly value: number };

export type OutcomeCounts = {
  /** Completed, also early. */
  readonly trained: number;
  readonly canceled: number;
  readonly failed: number;
  readonly invalid: number;
};

export type SearchState = {
  /** Events folded, which is the version of the stream. */
  readonly version: number;
  readonly phase: "unknown" | "running" | "completed";
  readonly plan: SearchPlan | null;
  /** Trial number n at n - 1. */
  readonly trials: Vector<TrialState>;
  readonly unended: number;
  /** It was decided that no further trial is proposed. */
  readonly finishing: boolean;
  /** It was decided that it ends as failed. */
  readonly failing: boolean;
  readonly outcomes: OutcomeCounts;
  readonly best: Best | null;
  /** What the algorithm keeps for itself. */
  readonly memory: Json;
  /** What the early-stopping policies keep; null where none was configured. */
  readonly policies: PoliciesMemory | null;
};

/** A search between its start and its completion: what algorithms see. */
export type RunningSearch = SearchState & { readonly plan: SearchPlan };

export const initialSearch: SearchState = {
  version: 0,
  phase: "unknown",
  plan: null,
  trials: emptyVector(),
  unended: 0,
  finishing: false,
  failing: false,
  outcomes: { trained: 0, canceled: 0, failed: 0, invalid: 0 },
  best: null,
  memory: null,
  policies: null,
};

export function trialOf(search: SearchState, number: number): TrialState | undefined {
  return itemAt(search.trials, number - 1);
}

/** Trials proposed so far. */
export function proposedTrials(search: SearchState): number {
  return search.trials.size;
}

/** Whether the search has not heard of the trial's end. */
export function isOpen(trial: TrialState): boolean {
  return trial.outcome === TrialOutcome.UNSPECIFIED;
}

/** Whether the search wants no more of the trial. */
export function isStopped({ wanted }: TrialState): boolean {
  return wanted === "stopped" || wanted === "failed";
}

/** Whether the trial has not ended, and the search wants it to go on now. */
export function isRunning(trial: TrialState): boolean {
  return isOpen(trial) && trial.wanted === "run";
}
