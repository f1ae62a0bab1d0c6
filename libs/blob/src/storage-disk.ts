/**
 * The storages of checkpoints as one host sees them. This is a port, so that a simulation can give two hosts different
 * views of one path: in the memory adapter (memory-disk.ts) the test changes the mounts of a host. Both adapters pass
 * storage-contract.ts.
 */
import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { markStorage, readStorageMarker, type SeenStorage } from "./storage-marker.ts";

export interface StorageDisk {
  /** Reads the marker of the root on this host. */
  seen(root: string): Promise<SeenStorage>;
  /**
   * Marks the root unless it has a marker; returns the id of its marker. Throws a Fault `storage_not_marked` if the
   * root cannot be marked.
   */
  mark(root: string, id: string): Promise<string>;
  /** Removes a folder of a storage with its content; does nothing if the folder is absent. */
  removeFolder(folder: string): Promise<void>;
  /**
   * Removes the files of a folder whose paths match, and counts them. A matching link is removed itself; links are
   * never followed.
   */
  removeFiles(folder: string, matches: (path: string) => boolean): Promise<Removed>;
}

export type Removed = { readonly files: number; readonly bytes: number };

export const directoryDisk: StorageDisk = {
  seen: readStorageMarker,
  mark: markStorage,
  removeFolder: (folder) => rm(folder, { recursive: true, force: true }),
  removeFiles: removeMatching,
};

async function removeMatching(
  folder: string,
  matches: (path: string) => boolean,
  below = "",
): Promise<Removed> {
  const entries = await readdir(join(folder, below), { withFileTypes: true }).catch(
    (error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw error;
    },
  );
  const removed = { files: 0, bytes: 0 };
  for (const entry of entries) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) {
      const { files, bytes } = await removeMatching(folder, matches, path);
      removed.files += files;
      removed.bytes += bytes;
    } else if (matches(path)) {
      removed.bytes += (await lstat(join(folder, path))).size;
      await rm(join(folder, path), { force: true });
      removed.files += 1;
    }
  }
  return removed;
}
