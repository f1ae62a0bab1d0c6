import type { CheckpointEvent, CheckpointState } from "./state.ts";

export const initialCheckpoint: CheckpointState = {
  status: "none",
  declared: null,
  manifestDigest: "",
  reason: "",
  holders: [],
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
    case "CheckpointPinned": {
      const holder = holderOf(event.data);
      if (state.holders.includes(holder)) return state;
      return { ...state, holders: [...state.holders, holder] };
    }
    case "CheckpointUnpinned": {
      const holder = holderOf(event.data);
      return { ...state, holders: state.holders.filter((one) => one !== holder) };
    }
    default:
      return state;
  }
}

/** A pin is a model version's, or the person's. */
export function holderOf({ holder, by }: { readonly holder: string; readonly by: string }): string {
  return holder === "" ? by : holder;
}
