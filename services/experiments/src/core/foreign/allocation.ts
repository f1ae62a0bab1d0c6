import type { AnyEvent } from "@trainyard/contracts";
import { StopWhy } from "@trainyard/contracts/events";

export type AllocationState = {
  /** The agents on which the run is placed; empty before its grant. */
  readonly agents: readonly string[];
  /** Whether the run is ending because it was asked to stop. */
  readonly stopAcknowledged: boolean;
  /** Whether the last stop of the run was for its time limit. */
  readonly timeLimited: boolean;
};

export const initialAllocation: AllocationState = {
  agents: [],
  stopAcknowledged: false,
  timeLimited: false,
};

export function evolveAllocation(state: AllocationState, event: AnyEvent): AllocationState {
  if (event.type === "AllocationGranted") {
    return { ...state, agents: event.data.placements.map(({ agent }) => agent) };
  }
  if (event.type === "AllocationStopRequested") {
    return { ...state, timeLimited: event.data.why === StopWhy.TIME_LIMIT };
  }
  if (event.type === "AllocationStopWithdrawn") {
    return { ...state, timeLimited: event.data.remains === StopWhy.TIME_LIMIT };
  }
  return event.type === "AllocationStopAcknowledged" ? { ...state, stopAcknowledged: true } : state;
}
