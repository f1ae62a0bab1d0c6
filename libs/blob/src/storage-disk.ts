/**
 * The storages of checkpoints as one host sees them. A port, so that a simulation can give two hosts different views of
 * one path: the memory adapter (memory-disk.ts) is a host whose mounts the test changes. Both pass storage-contract.ts.
 */
import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { markStorage, readStorageMarker, type SeenStorage } from "./storage-marker.ts";

export interface StorageDisk {
  /** The marker of the root as this host sees it now. */
  seen(root: string): Promise<SeenStorage>;
  /** Marks the root unless it is marked; gives its id then. A Fault `storage_not_marked` where it cannot be. */
  mark(root: string, id: string): Promise<string>;
  /** Removes a folder of a storage with all in it; does nothing where it is not. */
  removeFolder(folder: string): Promise<void>;
  /** Removes files of a folder whose paths match, and links as themselves; follows no link. Gives what it removed. */
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
