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

/** Starts the search, from ExperimentCreated; ignored if the search has started already. */
export type StartSearch = {
  readonly type: "StartSearch";
  readonly config: SearchedConfig;
  /** The experiment's seed, an unsigned 32-bit integer. */
  readonly seed: number;
  /** The creation time of the experiment in milliseconds since 1970, for budgets of time. */
  readonly atMs?: number | undefined;
  /** The trials of the experiments in `warm_start`. */
  readonly earlier?: EarlierTrials;
};

/**
 * Records a report, from ValidationReported. A report is stale, and ignored, if its run was not the trial's latest when
 * the report reached the log. Only the log's order determines that, so the command has both run numbers.
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
  /** The names of reported values that are not numbers. */
  readonly nonNumeric?: readonly string[];
  /** The id of the ValidationReported. */
  readonly measurement: string;
  readonly atMs?: number | undefined;
};

/**
 * Records a complete checkpoint, from TrialCheckpointed; ignored by a search whose trials never continue from others.
 */
export type RecordCheckpoint = {
  readonly type: "RecordCheckpoint";
  readonly trial: number;
  readonly checkpoint: string;
  readonly run: number;
  /** The number of training steps in the checkpoint. */
  readonly step: number;
};

/** Records the end of a trial, from TrialEnded. */
export type RecordOutcome = {
  readonly type: "RecordOutcome";
  readonly trial: number;
  readonly outcome: TrialOutcome;
  readonly atMs?: number | undefined;
};

/**
 * Records that a run takes or releases slots, from RunStarted and RunEnded; ignored by a search without a budget of
 * slot-hours.
 */
export type RecordUsage = {
  readonly type: "RecordUsage";
  readonly trial: number;
  readonly run: number;
  readonly started: boolean;
  readonly atMs: number;
};

/** Passes the current time to the search, sent when a budget of time may be spent. */
export type NoteTime = { readonly type: "NoteTime"; readonly atMs: number };

/** Offers the model's suggestion for the next trial, which a side loop computed. */
export type OfferSuggestion = Suggestion & { readonly type: "OfferSuggestion" };

/** Proposes the next trial without the model, because its suggestion timed out. */
export type GoWithoutSuggestion = {
  readonly type: "GoWithoutSuggestion";
  readonly trial: number;
  readonly waitedMs: number;
};

/** Cancels the search, from ExperimentStopRequested: no more trials are proposed, and later inputs are not recorded. */
export type CancelSearch = { readonly type: "CancelSearch" };

/**
 * Posts operations of a custom search's client. Repeated operations are skipped; the others are recorded all or none.
 */
export type PostOperations = {
  readonly type: "PostOperations";
  readonly operations: readonly SearchOperation[];
  /** The version that the search must have for the operations to be accepted; null for any version. */
  readonly restsOn: number | null;
};

/**
 * Continues the search, from ExperimentContinued: failed and canceled trials are reopened, and the new searcher section
 * may allow more trials. A continuation that was answered already changes nothing.
 */
export type ContinueSearch = {
  readonly type: "ContinueSearch";
  /** The number of the continuation, from 1. */
  readonly continuation: number;
  /** The searcher section after the continuation. */
  readonly searcher: SearcherConfig;
  /** The only trial to reopen, without new trials; null for all. */
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
