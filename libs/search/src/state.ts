/**
 * The state of a search, folded from its events. It is plain data that a machine changes in place through its undo log
 * (`machine.ts`); its JSON text is the snapshot.
 */
import { TrialOutcome } from "@trainyard/contracts/events";
import type {
  EarlyStoppingPolicy,
  HyperparameterSpace,
  SearcherConfig,
} from "@trainyard/experiment-config";
import type { EarlyStoppingState } from "./early-stopping/state.ts";
import type { Derived } from "./derived.ts";
import type { EarlierTrial } from "./earlier.ts";
import type { Objective } from "./objectives.ts";
import type { Times } from "./times.ts";

/** `failed` is a stopped trial that will count as failed. */
export type TrialWanted = "run" | "suspended" | "stopped" | "failed";

export type TrialState = {
  readonly wanted: TrialWanted;
  /** The outcome of the trial; UNSPECIFIED, 0, until it has ended. */
  readonly outcome: TrialOutcome;
  /** The best finite value of the metric that the trial reported; null for none. */
  readonly best: number | null;
  /** The version of the search at which `best` was recorded, since of two equal values the earlier is better. */
  readonly bestAt: number;
  /** The times of the reports that arrived in increasing order. */
  readonly times: Times;
  /** The times that arrived out of order, as a restarted run with other reporting intervals has. */
  readonly lateTimes: readonly number[];
  /** The run of the last report and that report's time, since time must not decrease within a run. */
  readonly run: number;
  readonly runTime: number;
  /** The measurement id of the last report, to recognise a repeated delivery. */
  readonly measurement: string;
};

/**
 * The settings that are fixed at the start of the search; only a continuation changes them, through its searcher
 * section.
 */
export type SearchPlan = {
  readonly algorithm: string;
  readonly algorithmVersion: number;
  /** The searcher section of the configuration, read once from the event that records it. */
  readonly searcher: SearcherConfig;
  readonly space: HyperparameterSpace;
  readonly spaceBytes: number;
  readonly metric: string;
  readonly smallerIsBetter: boolean;
  /** The metrics by which trials are compared; the first determines the best trial. */
  readonly objectives: readonly Objective[];
  /** The metric that counts as time; empty for the training step. */
  readonly timeMetric: string;
  readonly seed: number;
  /** Trials of earlier searches, each with a finite value of the metric at a point of the space. */
  readonly earlier: readonly EarlierTrial[];
  /** The number of trials that count. */
  readonly trialsMax: number;
  /** The most open trials that are not suspended; 0 for no limit. */
  readonly concurrentTrialsMax: number;
  readonly earlyStopping: readonly EarlyStoppingPolicy[];
  /** The time at which the search stops trials that would train to the end of their code; null for none. */
  readonly maxTime: number | null;
  readonly slotsPerTrial: number;
  /** Values computed from the plan; absent from snapshots. */
  readonly derived?: Derived;
};

/** The parts of a plan that constraints and given points need. */
export type SearchedSpace = Pick<SearchPlan, "space" | "derived"> & {
  readonly searcher: Pick<SearcherConfig, "constraints" | "warm_start">;
};

export type Best = { readonly trial: number; readonly value: number };

export type OutcomeCounts = {
  /** The number of trials that completed or were stopped early. */
  readonly trained: number;
  readonly canceled: number;
  readonly failed: number;
  readonly invalid: number;
};

export type SearchState<Memory = unknown> = {
  /** The number of folded events, which is the stream's version. */
  readonly version: number;
  readonly phase: "unknown" | "running" | "completed";
  readonly plan: SearchPlan | null;
  /** The trials by number: trial n is at index n - 1. */
  readonly trials: readonly TrialState[];
  readonly unended: number;
  /** Whether it was decided that no further trial is proposed. */
  readonly finishing: boolean;
  /** Whether it was decided that the search ends as failed. */
  readonly failing: boolean;
  readonly outcomes: OutcomeCounts;
  readonly best: Best | null;
  /** The number of the latest continuation; absent before the first one. */
  readonly continuation?: number;
  /** The algorithm's state. */
  readonly memory: Memory;
  /** The state of the early-stopping policies; null if none is configured. */
  readonly policies: EarlyStoppingState | null;
};

/** A search from its start on, as algorithms see it. */
export type RunningSearch<Memory = unknown> = SearchState<Memory> & { readonly plan: SearchPlan };

/** The state of a search without events. */
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

/** The number of trials proposed so far. */
export function proposedTrials(search: SearchState): number {
  return search.trials.length;
}

/** Whether the search has recorded no end of the trial. */
export function isOpen(trial: TrialState): boolean {
  return trial.outcome === TrialOutcome.UNSPECIFIED;
}

/** Whether the search has stopped or failed the trial. */
export function isStopped({ wanted }: TrialState): boolean {
  return wanted === "stopped" || wanted === "failed";
}

/** Whether the trial is open and should run. */
export function isRunning(trial: TrialState): boolean {
  return isOpen(trial) && trial.wanted === "run";
}
