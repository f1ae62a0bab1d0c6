import type { AnyEvent } from "@trainyard/contracts";

/** Whether a checkpoint's bytes were seen to be all there, by the registry. */
export type CheckpointState = { readonly complete: boolean };

export const initialCheckpoint: CheckpointState = { complete: false };

export function evolveCheckpoint(state: CheckpointState, event: AnyEvent): CheckpointState {
  switch (event.type) {
    case "CheckpointCompleted":
      return { complete: true };
    case "CheckpointFailed":
    case "CheckpointAbandoned":
      return { complete: false };
    default:
      return state;
  }
}

/** Whether checkpoint-gc means to keep it: what is condemned is not started from, unless it was spared since. */
export type RetentionState = { readonly kept: boolean };

export const initialRetention: RetentionState = { kept: true };

export function evolveRetention(state: RetentionState, event: AnyEvent): RetentionState {
  switch (event.type) {
    case "CheckpointSpared":
      return { kept: true };
    case "CheckpointCondemned":
    case "CheckpointDeletionStarted":
    case "CheckpointDeleted":
      return { kept: false };
    default:
      return state;
  }
}
