import type { AnyEvent } from "@trainyard/contracts";

/** Whether the run said that it ends because it was asked to. */
export type AllocationState = { readonly stopAcknowledged: boolean };

export const initialAllocation: AllocationState = { stopAcknowledged: false };

export function evolveAllocation(state: AllocationState, event: AnyEvent): AllocationState {
  return event.type === "AllocationStopAcknowledged" ? { stopAcknowledged: true } : state;
}
