import type { CheckpointEvent, CheckpointState } from "./state.ts";

export const initialCheckpoint: CheckpointState = {
  status: "none",
  declared: null,
  manifestDigest: "",
  reason: "",
};

export function evolveCheckpoint(state: CheckpointState, event: CheckpointEvent): CheckpointState {
  switch (event.type) {
    case "CheckpointDeclared":
      return { ...state, status: "declared", declared: event.data };
    case "CheckpointCompleted":
      return { ...state, status: "completed", manifestDigest: event.data.manifestDigest };
    case "CheckpointFailed":
      return { ...state, status: "failed", reason: event.data.reason };
    case "CheckpointAbandoned":
      return { ...state, status: "abandoned", reason: event.data.reason };
    default:
      return state;
  }
}
