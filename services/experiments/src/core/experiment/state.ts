/**
 * An experiment's life: none → active ⇄ paused → ended, and beside it a request to stop that is never withdrawn: a
 * cancel may still become a kill. The words about it change at any time; once it has ended it may be archived and taken
 * back. What its trials need of the configuration is read once, here.
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
  | "ExperimentMoved"
>;

/** What every run of the experiment asks for, and how often a trial may fail. */
export type RunPlan = { readonly resources: Plain<Resources>; readonly maxRestarts: number };

export type ExperimentState = {
  readonly status: "none" | "active" | "paused" | "ended";
  readonly stop: { readonly kind: StopKind; readonly reason: string } | null;
  readonly plan: RunPlan;
  readonly workspace: string;
  readonly project: string;
  readonly owner: string;
  /** Put aside; only after its end. */
  readonly archived: boolean;
  readonly words: Words;
  /** The number of changes of the words. */
  readonly revision: number;
  /** The checkpoint that its trials start from; absent for none. */
  readonly source?: WarmStartSource;
};
