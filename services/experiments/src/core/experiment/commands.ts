import type { EventData } from "@trainyard/contracts";
import type { ExperimentOutcome, StopKind, TrialOutcome } from "@trainyard/contracts/events";
import type { Continuation } from "@trainyard/experiment-config/recorded";
import type { WordsChange } from "./words.ts";

export type ContinueCommand = {
  readonly kind: "continue";
  readonly change: Continuation;
  /** Whether its search has trials to take up, or was canceled before it had proposed all. */
  readonly isUnfinished: boolean;
};

export type RestartTrialCommand = {
  readonly kind: "restart_trial";
  readonly number: number;
  /** How the trial ended; null where it has not. */
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
  | ContinueCommand
  | RestartTrialCommand
  | {
      readonly kind: "describe";
      readonly words: WordsChange;
      /** The revision that the caller has read; absent where any is right. */
      readonly ifRevision?: number | undefined;
    }
  | { readonly kind: "stop"; readonly stop: StopKind; readonly reason: string }
  | { readonly kind: "end"; readonly outcome: ExperimentOutcome; readonly reason: string };
