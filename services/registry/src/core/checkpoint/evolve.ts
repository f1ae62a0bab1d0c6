import { type CheckpointEvent, type CheckpointState, holderOf } from "./state.ts";

export const initialCheckpoint: CheckpointState = {
  status: "none",
  declared: null,
  manifestDigest: "",
  reason: "",
  pins: [],
  damage: null,
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
    case "CheckpointPinned":
      return { ...state, pins: [...without(state, holderOf(event.data)), event.data] };
    case "CheckpointUnpinned":
      return { ...state, pins: without(state, holderOf(event.data)) };
    case "CheckpointDamaged": {
      const { problems, count } = event.data;
      return { ...state, damage: { problems, count } };
    }
    case "CheckpointRepaired":
      return { ...state, damage: null };
    default:
      return state;
  }
}

function without({ pins }: CheckpointState, holder: string): CheckpointState["pins"] {
  return pins.filter((pin) => holderOf(pin) !== holder);
}
