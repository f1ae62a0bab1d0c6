/**
 * An experiment's life: none → active ⇄ paused → ended. A continuation leads from ended back to active. A stop request
 * is never withdrawn before the end, but a cancel may become a kill. Name, notes and labels may change at any time. An
 * ended experiment may be archived and unarchived. The settings that its trials need are read from the configuration
 * once, here.
 */
import type { WarmStartSource } from "@trainyard/experiment-config/recorded";
import type { EventOf, Plain } from "@trainyard/contracts";
import type { Resources, StopKind } from "@trainyard/contracts/events";
import type { Words } from "./words.ts";

export type ExperimentEvent = EventOf<
  | "ExperimentCreated"
  | "ExperimentActivated"
  | "ExperimentPaused"
  | "ExperimentStopRequested"
  | "ExperimentEnded"
  | "ExperimentDescribed"
  | "ExperimentArchived"
  | "ExperimentUnarchived"
  | "ExperimentContinued"
  | "ExperimentDeletionRequested"
  | "ExperimentDeletionUndone"
  | "ExperimentDeleted"
  | "ExperimentMoved"
>;

/** The request of every run of the experiment, and how often a trial may be restarted. */
export type RunPlan = { readonly resources: Plain<Resources>; readonly maxRestarts: number };

/** The size of the search, which a continuation may raise. */
export type SearchSize = {
  readonly algorithm: string;
  /** The number of trials; 0 if the searcher does not limit it. */
  readonly maxTrials: number;
  /** The training length of a trial; null if the code alone decides it. */
  readonly length: { readonly length: number; readonly unit: string } | null;
};

export type ExperimentState = {
  readonly status: "none" | "active" | "paused" | "ended";
  readonly stop: { readonly kind: StopKind; readonly reason: string } | null;
  readonly plan: RunPlan;
  readonly size: SearchSize;
  /** The number of the latest continuation. The experiment completes only after its search has answered it. */
  readonly continuation: number;
  /** The id of the request that made the latest continuation. */
  readonly continuedBy: string;
  readonly workspace: string;
  readonly project: string;
  readonly owner: string;
  /** The end of the grace of a requested deletion; null for none. `gone`: the experiment is deleted for good. */
  readonly deletion: { readonly graceEndMs: number; readonly gone: boolean } | null;
  /** Whether the experiment is archived; only an ended one can be. */
  readonly archived: boolean;
  readonly words: Words;
  /** The number of changes of name, description, notes and labels. */
  readonly revision: number;
  /** The checkpoint that the experiment's trials start from; absent for none. */
  readonly source?: WarmStartSource;
};
