/**
 * The storages of checkpoints as one host sees them. A port, so that a simulation can give two hosts different views of
 * one path: the memory adapter (memory-disk.ts) is a host whose mounts the test changes. Both pass storage-contract.ts.
 */
import { rm } from "node:fs/promises";
import { markStorage, readStorageMarker, type SeenStorage } from "./storage-marker.ts";

export interface StorageDisk {
  /** What this host sees in the place of the root's marker, now. */
  seen(root: string): Promise<SeenStorage>;
  /** Marks the root unless it is marked; gives its id then. A Fault `storage_not_marked` where it cannot be. */
  mark(root: string, id: string): Promise<string>;
  /** Removes a folder of a storage with all in it; does nothing where it is not. */
  removeFolder(folder: string): Promise<void>;
}

export const directoryDisk: StorageDisk = {
  seen: readStorageMarker,
  mark: markStorage,
  removeFolder: (folder) => rm(folder, { recursive: true, force: true }),
};
