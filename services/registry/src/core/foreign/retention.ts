import type { AnyEvent } from "@trainyard/contracts";

/** Whether the bytes are still there: from the moment that a deletion starts they count as gone. */
export type Retention = { readonly deleted: boolean };

export const retained: Retention = { deleted: false };

export function evolveRetention(state: Retention, event: AnyEvent): Retention {
  const deletes = event.type === "CheckpointDeletionStarted" || event.type === "CheckpointDeleted";
  return deletes ? { deleted: true } : state;
}
