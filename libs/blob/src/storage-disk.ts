/**
 * The storages of checkpoints as one host sees them. This is a port, so that a simulation can give two hosts different
 * views of one path: in the memory adapter (testing/memory-disk.ts) the test changes the mounts of a host. Both
 * adapters pass storage-contract.ts.
 */
import { constants } from "node:fs";
import { lstat, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { SeenStorage, StorageMark } from "./marker-text.ts";
import { markStorage, readStorageMarker, renewStorageMarker } from "./storage-marker.ts";

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;

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
  /** Returns whether the path is a folder itself, not a link to one; false if nothing is there. */
  isFolder(path: string): Promise<boolean>;
  /** Removes a folder of a storage with its content; does nothing if the folder is absent. */
  removeFolder(folder: string): Promise<void>;
  /**
   * Removes the files of a folder whose paths match, and counts them. A matching link is removed itself; links are
   * never followed. Throws if the folder itself is a link.
   */
  removeFiles(folder: string, matches: (path: string) => boolean): Promise<Removed>;
}

export type Removed = { readonly files: number; readonly bytes: number };

export const directoryDisk: StorageDisk = {
  seen: readStorageMarker,
  mark: markStorage,
  renew: renewStorageMarker,
  isFolder,
  removeFolder: (folder) => rm(folder, { recursive: true, force: true }),
  removeFiles: removeMatching,
};

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

/**
 * Each folder is opened without following links, and its entries are named through the open folder: training code may
 * replace a folder by a link at any time.
 */
async function removeMatching(
  folder: string,
  matches: (path: string) => boolean,
  below = "",
): Promise<Removed> {
  const removed = { files: 0, bytes: 0 };
  await using handle = await open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(
    (error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
      throw error;
    },
  );
  if (handle === null) return removed;
  const place = process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : folder;
  for (const entry of await readdir(place, { withFileTypes: true })) {
    const [at, path] = [join(place, entry.name), join(below, entry.name)];
    if (entry.isDirectory()) {
      const { files, bytes } = await removeMatching(at, matches, path);
      removed.files += files;
      removed.bytes += bytes;
    } else if (matches(path)) {
      removed.bytes += (await lstat(at)).size;
      await rm(at, { force: true });
      removed.files += 1;
    }
  }
  return removed;
}
