/**
 * The state of one search, folded from its own events. Plain data, which a machine changes in place through its undo
 * log (`machine.ts`); its JSON text is the snapshot.
 */
import { TrialOutcome } from "@trainyard/contracts/events";
import type {
  EarlyStoppingPolicy,
  HyperparameterSpace,
  JsonObject,
} from "@trainyard/experiment-config";
import type { EarlyStoppingState } from "./early-stopping/state.ts";
import type { Derived } from "./derived.ts";
import type { EarlierTrial } from "./earlier.ts";
import type { Times } from "./times.ts";

/** failed: stopped, to count as failed. */
export type TrialWanted = "run" | "suspended" | "stopped" | "failed";

export type TrialState = {
  readonly wanted: TrialWanted;
  /** 0 (unspecified) while it has not ended. */
  readonly outcome: TrialOutcome;
  /** The best finite value of the metric that it reported; null for none. */
  readonly best: number | null;
  /** The version of the search at which `best` was recorded: of two equal values the earlier is the better. */
  readonly bestAt: number;
  /** The times at which it was observed, as far as they came in increasing order. */
  readonly times: Times;
  /** The times that came out of order, which only a restarted run with another rhythm has. */
  readonly lateTimes: readonly number[];
  /** The run that was observed last, and the last time that it reported: within a run time does not go back. */
  readonly run: number;
  readonly runTime: number;
  /** The last observation's measurement, to recognise a repeated delivery. */
  readonly measurement: string;
};

/** Decided when the search started. Only a continuation changes it, by its searcher and what follows from that. */
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
  /** Values computed from the plan; absent from snapshots. */
  readonly derived?: Derived;
};

/** All of a plan that constraints and given points are read from. */
export type SearchedSpace = Pick<SearchPlan, "space" | "searcher" | "derived">;

export type Best = { readonly trial: number; readonly value: number };

export type OutcomeCounts = {
  /** Completed, also early. */
  readonly trained: number;
  readonly canceled: number;
  readonly failed: number;
  readonly invalid: number;
};

export type SearchState<Memory = unknown> = {
  /** Events folded, which is the version of the stream. */
  readonly version: number;
  readonly phase: "unknown" | "running" | "completed";
  readonly plan: SearchPlan | null;
  /** Trial number n at n - 1. */
  readonly trials: readonly TrialState[];
  readonly unended: number;
  /** It was decided that no further trial is proposed. */
  readonly finishing: boolean;
  /** It was decided that it ends as failed. */
  readonly failing: boolean;
  readonly outcomes: OutcomeCounts;
  readonly best: Best | null;
  /** The number of the latest continuation; absent before the first one. */
  readonly continuation?: number;
  /** The algorithm's own state. */
  readonly memory: Memory;
  /** The state of the early-stopping policies; null where none was configured. */
  readonly policies: EarlyStoppingState | null;
};

/** A search between its start and its completion: what algorithms see. */
export type RunningSearch<Memory = unknown> = SearchState<Memory> & { readonly plan: SearchPlan };

/** The state of a search that has no events yet. */
export function newSearch(): SearchState {
  return {
    version: 0,
    phase: "unknown",
    plan: null,
    trials: [],
    unended: 0,
    finishing: false,
    failing: false,
    outcomes: { trained: 0, canceled: 0, failed: 0, invalid: 0 },
    best: null,
    memory: null,
    policies: null,
  };
}

export function isStarted<Memory>(search: SearchState<Memory>): search is RunningSearch<Memory> {
  return search.plan !== null;
}

export function trialOf(search: SearchState, number: number): TrialState | undefined {
  return search.trials[number - 1];
}

/** Trials proposed so far. */
export function proposedTrials(search: SearchState): number {
  return search.trials.length;
}

/** Whether the search has not recorded the trial's end. */
export function isOpen(trial: TrialState): boolean {
  return trial.outcome === TrialOutcome.UNSPECIFIED;
}

/** Whether the search wants no more of the trial. */
export function isStopped({ wanted }: TrialState): boolean {
  return wanted === "stopped" || wanted === "failed";
}

/** Whether the trial has not ended, and the search wants it to run now. */
export function isRunning(trial: TrialState): boolean {
  return isOpen(trial) && trial.wanted === "run";
}
