/**
 * A checkpoint's life: none → declared → completed, failed or abandoned, each of which is its last. Only a completed
 * one is ever restored from: all files of its manifest were seen on the storage with their sizes and digests.
 */
import type { EventData, EventOf } from "@trainyard/contracts";

export type CheckpointEvent = EventOf<
  | "CheckpointDeclared"
  | "CheckpointCompleted"
  | "CheckpointFailed"
  | "CheckpointAbandoned"
  | "CheckpointPinned"
  | "CheckpointUnpinned"
  | "CheckpointDamaged"
  | "CheckpointRepaired"
  | "CheckpointUploadProgressed"
>;

export type Declared = EventData<"CheckpointDeclared">;

export type CheckpointState = {
  readonly status: "none" | "declared" | "completed" | "failed" | "abandoned";
  readonly declared: Declared | null;
  /** Empty until completed. */
  readonly manifestDigest: string;
  /** Why it failed or was abandoned. */
  readonly reason: string;
  readonly pins: readonly Pin[];
  /** The last verification found it damaged: its report, else null. */
  readonly damage: Damage | null;
};

export type Pin = EventData<"CheckpointPinned">;
export type Damage = Omit<EventData<"CheckpointDamaged">, "by">;

/** Two pins of one holder are one: a model version's, or a person's. */
export function holderOf({ holder, by }: { readonly holder: string; readonly by: string }): string {
  return holder === "" ? by : holder;
}
