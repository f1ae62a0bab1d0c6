/** The commands of a search. The searcher service makes them from other services' events. */
import type { TrialOutcome } from "@trainyard/contracts/events";
import type { NormalisedConfig, SearcherConfig } from "@trainyard/experiment-config";
import type { Suggestion } from "./algorithm.ts";
import type { SearchOperation } from "./custom/operations.ts";
import type { EarlierTrials } from "./earlier.ts";

/** The part of the experiment's configuration that a search reads. */
export type SearchedConfig = Pick<NormalisedConfig, "searcher" | "hyperparameters"> &
  Partial<Pick<NormalisedConfig, "early_stopping">> & {
    readonly resources?: Pick<NormalisedConfig["resources"], "slots_per_trial">;
  };

/** From ExperimentCreated. A search that has started already stays as it is. */
export type StartSearch = {
  readonly type: "StartSearch";
  readonly config: SearchedConfig;
  /** The experiment's seed, an unsigned 32-bit integer. */
  readonly seed: number;
  /** When the experiment was created, in milliseconds of the epoch, as in the other commands: for budgets of time. */
  readonly atMs?: number | undefined;
  /** Results of the trials of the experiments in `warm_start`. */
  readonly earlier?: EarlierTrials;
};

/**
 * From ValidationReported. A stale report is ignored: its run was no longer the trial's latest when it reached the log.
 * Only the order of the log says which run that was, so the command carries it.
 */
export type RecordValidation = {
  readonly type: "RecordValidation";
  /** The trial's number in the search, from 1. */
  readonly trial: number;
  readonly run: number;
  /** The number of the latest RunRequested of the trial before the report in the log. */
  readonly currentRun: number;
  readonly step: number;
  readonly scalars: Readonly<Record<string, number>>;
  /** Names of values in the report that are no numbers. */
  readonly nonNumeric?: readonly string[];
  /** The id of the ValidationReported. */
  readonly measurement: string;
  readonly atMs?: number | undefined;
};

/** From TrialCheckpointed: a checkpoint of the trial's line is complete. Nothing to a search that copies no trials. */
export type RecordCheckpoint = {
  readonly type: "RecordCheckpoint";
  readonly trial: number;
  readonly checkpoint: string;
  readonly run: number;
  /** The training steps that it holds. */
  readonly step: number;
};

/** From TrialEnded. */
export type RecordOutcome = {
  readonly type: "RecordOutcome";
  readonly trial: number;
  readonly outcome: TrialOutcome;
  readonly atMs?: number | undefined;
};

/** From RunStarted and RunEnded: slots are taken or released. Ignored by a search without a budget of slot-hours. */
export type RecordUsage = {
  readonly type: "RecordUsage";
  readonly trial: number;
  readonly run: number;
  readonly started: boolean;
  readonly atMs: number;
};

/** From a clock, when a budget of time may be spent. */
export type NoteTime = { readonly type: "NoteTime"; readonly atMs: number };

/** The model's suggestion for the next trial, computed beside the log. */
export type OfferSuggestion = Suggestion & { readonly type: "OfferSuggestion" };

/** Suggestion timed out: propose without the model. */
export type GoWithoutSuggestion = {
  readonly type: "GoWithoutSuggestion";
  readonly trial: number;
  readonly waitedMs: number;
};

/** From ExperimentStopRequested: no more trials. Later inputs are not recorded. */
export type CancelSearch = { readonly type: "CancelSearch" };

/** From the client of a custom search. Repeated operations are skipped; the others are recorded all or none. */
export type PostOperations = {
  readonly type: "PostOperations";
  readonly operations: readonly SearchOperation[];
  /** The version of the search that the client made sure of; null for any. */
  readonly restsOn: number | null;
};

/**
 * From ExperimentContinued: trials that failed or were canceled are open again, and as many more may come as the
 * searcher says. A continuation that was answered already changes nothing.
 */
export type ContinueSearch = {
  readonly type: "ContinueSearch";
  /** The number of the continuation, from 1. */
  readonly continuation: number;
  /** The searcher section from now on. */
  readonly searcher: SearcherConfig;
  /** The only trial that is taken up, and no other is proposed for it; null for all. */
  readonly only: number | null;
};

export type SearchCommand =
  | StartSearch
  | RecordValidation
  | RecordCheckpoint
  | RecordOutcome
  | OfferSuggestion
  | GoWithoutSuggestion
  | PostOperations
  | RecordUsage
  | NoteTime
  | CancelSearch
  | ContinueSearch;
