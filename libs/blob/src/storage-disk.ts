/**
 * The storages of checkpoints as one host sees them. This is a port, so that a simulation can give two hosts different
 * views of one path: in the memory adapter (testing/memory-disk.ts) the test changes the mounts of a host. Both
 * adapters pass storage-contract.ts.
 */
import type { SeenStorage, StorageMark } from "./marker-text.ts";
import { type Removed, removeMatching, removeWhole } from "./remove-below.ts";
import { markStorage, readStorageMarker, renewStorageMarker } from "./storage-marker.ts";

export interface StorageDisk {
  /** Reads the marker of the root on this host. */
  seen(root: string): Promise<SeenStorage>;
  /**
   * Marks the root unless it has a marker; returns the id of its marker. Throws a Fault `storage_not_marked` if the
   * root cannot be marked.
   */
  mark(root: string, id: string): Promise<string>;
  /**
   * Replaces the marker of the root as a whole, if it has the same id. Throws a Fault `storage_not_marked` if it does
   * not, and nothing is written.
   */
  renew(root: string, mark: StorageMark): Promise<void>;
  /**
   * Removes an entry below a root, `a/b`, with everything in it; does nothing if it is absent, or behind a link. Links
   * are removed themselves and never followed, even if they replace folders during the removal.
   */
  removeFolder(root: string, below: string): Promise<void>;
  /**
   * Removes the files of a folder below a root whose paths match, and counts them. A matching link is removed itself;
   * links are never followed. Throws if the folder itself is a link.
   */
  removeFiles(root: string, below: string, matches: (path: string) => boolean): Promise<Removed>;
}

export const directoryDisk: StorageDisk = {
  seen: readStorageMarker,
  mark: markStorage,
  renew: renewStorageMarker,
  removeFolder: removeWhole,
  removeFiles: removeMatching,
};
