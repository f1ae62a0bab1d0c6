/**
 * A checkpoint's life: none → declared → completed, failed or abandoned, each of which is its last. Only a completed one
 * is ever restored from: all files of its manifest were seen on the storage with their sizes and digests.
 */
import type { EventData, EventOf } from "@trainyard/contracts";

export type CheckpointEvent = EventOf<
  | "CheckpointDeclared"
  | "CheckpointCompleted"
  | "CheckpointFailed"
  | "CheckpointAbandoned"
  | "CheckpointPinned"
  | "CheckpointUnpinned"
>;

export type Declared = EventData<"CheckpointDeclared">;

export type CheckpointState = {
  readonly status: "none" | "declared" | "completed" | "failed" | "abandoned";
  readonly declared: Declared | null;
  /** Empty until completed. */
  readonly manifestDigest: string;
  /** Why it failed or was abandoned. */
  readonly reason: string;
  /** What holds it; it is not deleted while a holder is left. */
  readonly holders: readonly string[];
};
