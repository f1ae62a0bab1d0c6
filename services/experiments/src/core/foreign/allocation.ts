import type { AnyEvent } from "@trainyard/contracts";
import type { StopWhy } from "@trainyard/contracts/events";

export type AllocationState = {
  /** The agents on which the run is placed; empty before its grant. */
  readonly agents: readonly string[];
  /** Whether the run is ending because it was asked to stop. */
  readonly stopAcknowledged: boolean;
  /** The reason of the last stop that was not withdrawn; null for none. */
  readonly stopWhy: StopWhy | null;
};

export const initialAllocation: AllocationState = {
  agents: [],
  stopAcknowledged: false,
  stopWhy: null,
};

export function evolveAllocation(state: AllocationState, event: AnyEvent): AllocationState {
  if (event.type === "AllocationGranted") {
    return { ...state, agents: event.data.placements.map(({ agent }) => agent) };
  }
  if (event.type === "AllocationStopRequested") {
    return { ...state, stopWhy: event.data.why };
  }
  if (event.type === "AllocationStopWithdrawn") {
    return { ...state, stopWhy: event.data.remains ?? null };
  }
  return event.type === "AllocationStopAcknowledged" ? { ...state, stopAcknowledged: true } : state;
}
