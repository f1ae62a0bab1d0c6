import type { AnyEvent } from "@trainyard/contracts";

/** Reports whether a checkpoint can be pinned, or the reason why it cannot. */
export type Holdable = "kept" | "condemned" | "partial" | "deleted";

export function evolveHoldable(state: Holdable, event: AnyEvent): Holdable {
  switch (event.type) {
    case "CheckpointCondemned":
      return state === "kept" ? "condemned" : state;
    case "CheckpointSpared":
      return state === "condemned" ? "kept" : state;
    case "CheckpointDeletionStarted":
    case "CheckpointDeleted":
      return "deleted";
    case "CheckpointFilesDeletionStarted":
      return state === "deleted" ? state : "partial";
    default:
      return state;
  }
}
