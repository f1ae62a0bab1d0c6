/**
 * A checkpoint's life: none → declared → completed, failed or abandoned; the last three are final. Only a completed
 * checkpoint is ever restored from: all files of its manifest were on the storage with their sizes and digests.
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
  /** The digest of the manifest; empty until completed. */
  readonly manifestDigest: string;
  /** The reason why the checkpoint failed or was abandoned. */
  readonly reason: string;
  readonly pins: readonly Pin[];
  /** The last verification's report if it found damage, else null. */
  readonly damage: Damage | null;
};

export type Pin = EventData<"CheckpointPinned">;
export type Damage = Omit<EventData<"CheckpointDamaged">, "by">;

/** Identifies a pin's holder: a model version or a person. A holder has at most one pin. */
export function holderOf({ holder, by }: { readonly holder: string; readonly by: string }): string {
  return holder === "" ? by : holder;
}
