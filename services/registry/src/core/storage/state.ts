/** A person's statement about a root: none yet, or its storage, and the ids that it had before. */
import type { EventOf } from "@trainyard/contracts";

export type StorageEvent = EventOf<"StorageAdopted" | "UnknownFilesDeleted">;

export type StorageState = {
  /** Empty while nobody has said it. */
  readonly id: string;
  readonly replaced: readonly string[];
};
