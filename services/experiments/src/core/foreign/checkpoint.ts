import type { AnyEvent } from "@trainyard/contracts";

/** A checkpoint, from the registry's events. */
export type CheckpointState = {
  /** Its trial; empty until it is declared. */
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
    // No trial starts from a checkpoint that a verification found damaged, until one finds it intact.
    case "CheckpointDamaged":
      return { ...state, complete: false };
    case "CheckpointRepaired":
      return { ...state, complete: true };
    default:
      return state;
  }
}

/** Whether checkpoint-gc means to keep it: what is condemned is not started from, unless it was spared since. */
export type RetentionState = {
  readonly kept: boolean;
  /** Some of its files were deleted, so that it is not kept whatever happens later. */
  readonly partial: boolean;
};

export const initialRetention: RetentionState = { kept: true, partial: false };

export function evolveRetention(state: RetentionState, event: AnyEvent): RetentionState {
  switch (event.type) {
    case "CheckpointSpared":
      return { ...state, kept: !state.partial };
    case "CheckpointCondemned":
    case "CheckpointDeletionStarted":
    case "CheckpointDeleted":
      return { ...state, kept: false };
    case "CheckpointFilesDeletionStarted":
      return { kept: false, partial: true };
    default:
      return state;
  }
}
