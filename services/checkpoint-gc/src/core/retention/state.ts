/**
 * What becomes of a checkpoint: kept → condemned → deleting → deleted, and back from condemned to kept (spared) when
 * something turns out to need it. From the start of the deletion on there is no way back.
 */
import type { EventData, EventOf } from "@trainyard/contracts";

export type RetentionEvent = EventOf<
  "CheckpointCondemned" | "CheckpointSpared" | "CheckpointDeletionStarted" | "CheckpointDeleted"
>;

export type Condemnation = EventData<"CheckpointCondemned">;

export type RetentionState = {
  readonly status: "kept" | "condemned" | "deleting" | "deleted";
  /** When the deletion of a condemned one may start. */
  readonly graceEndMs: number;
};
