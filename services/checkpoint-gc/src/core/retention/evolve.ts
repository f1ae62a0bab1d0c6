import type { RetentionEvent, RetentionState } from "./state.ts";

export const initialRetention: RetentionState = {
  status: "kept",
  graceEndMs: 0,
  by: "",
  reason: "",
  globs: [],
  thinning: false,
};

export function evolveRetention(state: RetentionState, event: RetentionEvent): RetentionState {
  switch (event.type) {
    case "CheckpointCondemned": {
      const { graceEndMs, by, reason } = event.data;
      return { ...state, status: "condemned", graceEndMs, by, reason };
    }
    case "CheckpointSpared":
      return { ...state, status: "kept", graceEndMs: 0, by: "", reason: "" };
    case "CheckpointDeletionStarted":
      return { ...state, status: "deleting" };
    case "CheckpointDeleted":
      return { ...state, status: "deleted" };
    case "CheckpointFilesDeletionStarted":
      return { ...state, globs: [...state.globs, ...event.data.globs], thinning: true };
    case "CheckpointFilesDeleted":
      return { ...state, thinning: false };
    default:
      return state;
  }
}
