import type { EventData } from "@trainyard/contracts";
import type { ExperimentOutcome, StopKind } from "@trainyard/contracts/events";

export type ExperimentCommand =
  | {
      readonly kind: "create";
      readonly created: EventData<"ExperimentCreated">;
      readonly paused: boolean;
    }
  | { readonly kind: "activate" }
  | { readonly kind: "pause" }
  | { readonly kind: "stop"; readonly stop: StopKind; readonly reason: string }
  | { readonly kind: "end"; readonly outcome: ExperimentOutcome; readonly reason: string };
