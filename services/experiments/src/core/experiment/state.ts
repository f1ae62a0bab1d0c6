/**
 * An experiment's life: none → active ⇄ paused → ended, from where a continuation leads back to active, and beside it a
 * request to stop that is never withdrawn before the end: a cancel may still become a kill. The words about it change
 * at any time; once it has ended it may be archived and taken back. What its trials need of the configuration is read
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

/** The request of every run of the experiment, and how often a trial may fail. */
export type RunPlan = { readonly resources: Plain<Resources>; readonly maxRestarts: number };

/** The values that a continuation may raise. */
export type SearchSize = {
  readonly algorithm: string;
  /** 0 where the searcher does not say. */
  readonly maxTrials: number;
  /** How long a trial trains; null where the code alone decides. */
  readonly length: { readonly length: number; readonly unit: string } | null;
};

export type ExperimentState = {
  readonly status: "none" | "active" | "paused" | "ended";
  readonly stop: { readonly kind: StopKind; readonly reason: string } | null;
  readonly plan: RunPlan;
  readonly size: SearchSize;
  /** The number of the latest continuation: its search has to answer it before the experiment can end as completed. */
  readonly continuation: number;
  /** The request that the latest continuation follows. */
  readonly continuedBy: string;
  readonly workspace: string;
  readonly project: string;
  readonly owner: string;
  /** The end of the time in which its deletion may be taken back; null for none. `gone`: it is deleted for good. */
  readonly deletion: { readonly graceEndMs: number; readonly gone: boolean } | null;
  /** Put aside; only after its end. */
  readonly archived: boolean;
  readonly words: Words;
  /** The number of changes of the words. */
  readonly revision: number;
  /** The checkpoint that its trials start from; absent for none. */
  readonly source?: WarmStartSource;
};
