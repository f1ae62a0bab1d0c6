/** The storage that a person adopted for a root: its id, and the ids that the root had before. */
import type { EventOf } from "@trainyard/contracts";

export type StorageEvent = EventOf<"StorageAdopted" | "UnknownFilesDeleted">;

export type StorageState = {
  /** The adopted id; empty before the first adoption. */
  readonly id: string;
  readonly replaced: readonly string[];
};
