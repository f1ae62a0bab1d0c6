import type { AnyEvent } from "@trainyard/contracts";

/** Reports whether a checkpoint's files exist: they count as gone from the start of their deletion. */
export type Retention = {
  readonly deleted: boolean;
  readonly condemned: boolean;
  /** Patterns of the files that a person had deleted. */
  readonly globs: readonly string[];
};

export const retained: Retention = { deleted: false, condemned: false, globs: [] };

export function evolveRetention(state: Retention, event: AnyEvent): Retention {
  switch (event.type) {
    case "CheckpointCondemned":
      return { ...state, condemned: true };
    case "CheckpointSpared":
      return { ...state, condemned: false };
    case "CheckpointDeletionStarted":
    case "CheckpointDeleted":
      return { ...state, deleted: true };
    case "CheckpointFilesDeletionStarted":
      return { ...state, globs: [...state.globs, ...event.data.globs] };
    default:
      return state;
  }
}
