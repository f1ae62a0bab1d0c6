/**
 * The life of a checkpoint: kept → condemned → deleting → deleted. A condemned checkpoint returns to kept (it is
 * spared) when something needs it or a person undoes the deletion. A deletion that has started cannot be undone.
 * Besides, a person may delete some files of a kept checkpoint; it then stays partial, whatever its status.
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
  /** The time from which a condemned checkpoint may be deleted, in Unix milliseconds. */
  readonly graceEndMs: number;
  /** The person who condemned the checkpoint; empty if a policy did. */
  readonly by: string;
  readonly reason: string;
  /** The patterns of the files that a person has had deleted. */
  readonly globs: readonly string[];
  /** Whether files that match the patterns are still to be deleted. */
  readonly thinning: boolean;
};
