import { isOwnStop } from "./own-stops.ts";
import type { AllocationEvent, AllocationState } from "./state.ts";

export const initialAllocation: AllocationState = {
  status: "none",
  wait: null,
  stop: null,
  ownStop: null,
  trialStop: null,
  withdrawnStop: null,
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
      const stop = { mode, why, graceMs };
      return { ...state, stop, ...(isOwnStop(why) ? { ownStop: stop } : { trialStop: stop }) };
    }
    case "AllocationStopWithdrawn":
      return { ...state, stop: state.ownStop, trialStop: null, withdrawnStop: state.trialStop };
    case "AllocationStopAcknowledged":
      return { ...state, stopAcknowledged: true };
    case "AllocationEnded":
      return { ...state, status: "ended" };
    default:
      return state;
  }
}
