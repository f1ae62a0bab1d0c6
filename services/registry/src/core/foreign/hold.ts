import type { AnyEvent } from "@trainyard/contracts";

/** Whether a checkpoint's files stay as long as something holds it, or why not. */
export type Holdable = "kept" | "condemned" | "deleted";

export function evolveHoldable(state: Holdable, event: AnyEvent): Holdable {
  switch (event.type) {
    case "CheckpointCondemned":
      return state === "deleted" ? state : "condemned";
    case "CheckpointSpared":
      return state === "deleted" ? state : "kept";
    case "CheckpointDeletionStarted":
    case "CheckpointDeleted":
      return "deleted";
    default:
      return state;
  }
}
