/**
 * The life of a checkpoint: kept → condemned → deleting → deleted, and back from condemned to kept (spared) when
 * something needs it or a person takes the deletion back. From the start of the deletion on there is no way back.
 * Beside that, a person may have some of its files deleted: then it is partial for good, whatever its status.
 */
import type { EventData, EventOf } from "@trainyard/contracts";

export type RetentionEvent = EventOf<
  | "CheckpointCondemned"
  | "CheckpointSpared"
  | "CheckpointDeletionStarted"
  | "CheckpointDeleted"
  | "CheckpointFilesDeletionStarted"
  | "CheckpointFilesDeleted"
>;

export type Condemnation = EventData<"CheckpointCondemned">;

export type RetentionState = {
  readonly status: "kept" | "condemned" | "deleting" | "deleted";
  /** When the deletion of a condemned one may start. */
  readonly graceEndMs: number;
  /** The person who deletes it; empty if a policy gives it up. */
  readonly by: string;
  readonly reason: string;
  /** Patterns of files that a person had deleted. */
  readonly globs: readonly string[];
  /** Files that match are not all deleted yet. */
  readonly thinning: boolean;
};
