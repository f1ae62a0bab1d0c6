import type { EventData } from "@trainyard/contracts";
import type { ExperimentOutcome, StopKind } from "@trainyard/contracts/events";
import type { WordsChange } from "./words.ts";

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
  | {
      readonly kind: "describe";
      readonly words: WordsChange;
      /** The revision that the caller has read; absent where any is right. */
      readonly ifRevision?: number | undefined;
    }
  | { readonly kind: "move"; readonly workspace: string; readonly project: string }
  | { readonly kind: "stop"; readonly stop: StopKind; readonly reason: string }
  | { readonly kind: "end"; readonly outcome: ExperimentOutcome; readonly reason: string };
