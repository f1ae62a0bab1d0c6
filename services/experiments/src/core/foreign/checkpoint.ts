import type { AnyEvent } from "@trainyard/contracts";

/** A checkpoint, as the registry tells of it. */
export type CheckpointState = {
  /** Whose it is; empty until it is declared. */
  readonly trial: string;
  /** Its bytes were seen to be all there. */
  readonly complete: boolean;
  /** Complete, or never to be. */
  readonly settled: boolean;
};

export const initialCheckpoint: CheckpointState = { trial: "", complete: false, settled: false };

export function evolveCheckpoint(state: CheckpointState, event: AnyEvent): CheckpointState {
  switch (event.type) {
    case "CheckpointDeclared":
      return { ...state, trial: event.data.trial };
    case "CheckpointCompleted":
      return { trial: event.data.trial, complete: true, settled: true };
    case "CheckpointFailed":
    case "CheckpointAbandoned":
      return { ...state, complete: false, settled: true };
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
