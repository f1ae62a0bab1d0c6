import type { AnyEvent } from "@trainyard/contracts";
import { StopWhy } from "@trainyard/contracts/events";

export type AllocationState = {
  /** Whether the run is ending because it was asked to stop. */
  readonly stopAcknowledged: boolean;
  /** Whether the last stop of the run was for its time limit. */
  readonly timeLimited: boolean;
};

export const initialAllocation: AllocationState = { stopAcknowledged: false, timeLimited: false };

export function evolveAllocation(state: AllocationState, event: AnyEvent): AllocationState {
  if (event.type === "AllocationStopRequested") {
    return { ...state, timeLimited: event.data.why === StopWhy.TIME_LIMIT };
  }
  if (event.type === "AllocationStopWithdrawn") {
    return { ...state, timeLimited: event.data.remains === StopWhy.TIME_LIMIT };
  }
  return event.type === "AllocationStopAcknowledged" ? { ...state, stopAcknowledged: true } : state;
}
