import type { AllocationEvent, AllocationState } from "./state.ts";

export const initialAllocation: AllocationState = {
  status: "none",
  wait: null,
  stop: null,
  stopAcknowledged: false,
};

export function evolveAllocation(state: AllocationState, event: AllocationEvent): AllocationState {
  switch (event.type) {
    case "AllocationQueued":
      return { ...state, status: "queued" };
    case "WaitExplained": {
      const { code, limit = null } = event.data;
      return { ...state, wait: { code, limit } };
    }
    case "AllocationGranted":
      return { ...state, status: "granted", wait: null };
    case "AllocationStarted":
      return { ...state, status: "started" };
    case "AllocationStopRequested": {
      const { mode, why, graceMs } = event.data;
      return { ...state, stop: { mode, why, graceMs } };
    }
    case "AllocationStopAcknowledged":
      return { ...state, stopAcknowledged: true };
    case "AllocationEnded":
      return { ...state, status: "ended" };
    default:
      return state;
  }
}
