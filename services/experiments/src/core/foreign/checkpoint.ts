import type { AnyEvent } from "@trainyard/contracts";

/** A checkpoint, from the registry's events. */
export type CheckpointState = {
  /** The trial of the checkpoint; empty until it is declared, and for others. */
  readonly trial: string;
  /** The task whose folder is saved; empty for other checkpoints. */
  readonly task: string;
  /** Whether the registry has seen all bytes of the checkpoint. */
  readonly complete: boolean;
  /** Whether the upload has ended: complete, failed or abandoned. */
  readonly settled: boolean;
  /** Whether the last verification found damage. */
  readonly damaged: boolean;
};

export const initialCheckpoint: CheckpointState = {
  trial: "",
  task: "",
  complete: false,
  settled: false,
  damaged: false,
};

export function evolveCheckpoint(state: CheckpointState, event: AnyEvent): CheckpointState {
  switch (event.type) {
    case "CheckpointDeclared":
      return { ...state, trial: event.data.trial, task: event.data.task ?? "" };
    case "CheckpointCompleted": {
      const { trial, task = "" } = event.data;
      return { trial, task, complete: true, settled: true, damaged: false };
    }
    case "CheckpointFailed":
    case "CheckpointAbandoned":
      return { ...state, complete: false, settled: true };
    // No trial starts from a damaged checkpoint until a verification finds it intact.
    case "CheckpointDamaged":
      return { ...state, complete: false, damaged: true };
    case "CheckpointRepaired":
      return { ...state, complete: true, damaged: false };
    default:
      return state;
  }
}

/** Whether checkpoint-gc keeps the checkpoint. No run starts from a condemned one, unless it was spared later. */
export type RetentionState = {
  readonly kept: boolean;
  /** Some files of the checkpoint were deleted, so no run starts from it. */
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
