import type { EventData } from "@trainyard/contracts";
import type { ExperimentOutcome, StopKind, TrialOutcome } from "@trainyard/contracts/events";
import type { Continuation } from "@trainyard/experiment-config/recorded";
import type { WordsChange } from "./words.ts";

export type ContinueCommand = {
  readonly kind: "continue";
  /** The id of the request. A client repeats it if the answer was lost. */
  readonly request: string;
  readonly change: Continuation;
  /** Whether the search has trials to continue, or was canceled before it had proposed all trials. */
  readonly isUnfinished: boolean;
};

export type RestartTrialCommand = {
  readonly kind: "restart_trial";
  readonly request: string;
  readonly number: number;
  /** The outcome of the trial; null if it has not ended. */
  readonly outcome: TrialOutcome | null;
};

export type ExperimentCommand =
  | {
      readonly kind: "create";
      readonly created: EventData<"ExperimentCreated">;
      readonly paused: boolean;
    }
  | { readonly kind: "activate" }
  | { readonly kind: "pause" }
  | { readonly kind: "archive"; readonly reason: string }
  | { readonly kind: "unarchive" }
  | { readonly kind: "delete"; readonly graceEndMs: number; readonly reason: string }
  | { readonly kind: "undelete" }
  /** Completes the deletion after the grace. */
  | { readonly kind: "delete_for_good"; readonly atMs: number }
  | ContinueCommand
  | RestartTrialCommand
  | {
      readonly kind: "describe";
      readonly words: WordsChange;
      /** The revision that the caller has read; absent to skip the check. */
      readonly ifRevision?: number | undefined;
    }
  | { readonly kind: "move"; readonly workspace: string; readonly project: string }
  | { readonly kind: "stop"; readonly stop: StopKind; readonly reason: string }
  | { readonly kind: "end"; readonly outcome: ExperimentOutcome; readonly reason: string };
