import type { RetentionEvent, RetentionState } from "./state.ts";

export const initialRetention: RetentionState = { status: "kept", graceEndMs: 0 };

export function evolveRetention(state: RetentionState, event: RetentionEvent): RetentionState {
  switch (event.type) {
    case "CheckpointCondemned":
      return { status: "condemned", graceEndMs: event.data.graceEndMs };
    case "CheckpointSpared":
      return initialRetention;
    case "CheckpointDeletionStarted":
      return { ...state, status: "deleting" };
    case "CheckpointDeleted":
      return { ...state, status: "deleted" };
    default:
      return state;
  }
}
