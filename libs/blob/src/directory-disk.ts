/** The file systems of this host, called in this process. In a service they are called by `ProcessDisk`. */
import type { FileHandle } from "node:fs/promises";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@trainyard/kernel/system-clock";
import { compareFiles, digestsOf } from "./compare-files.ts";
import { FolderOfOthers, NotInside } from "./folder-of-others.ts";
import { globMatcher } from "./glob.ts";
import { removeMatching, removeWhole } from "./remove-below.ts";
import type { Listing, OpenedFile, StorageDisk } from "./storage-disk.ts";
import { markStorage, readStorageMarker, renewStorageMarker } from "./storage-marker.ts";

/** The bytes that are read at once from an opened file. */
const chunkBytes = 256 * 1024;

export const directoryDisk: StorageDisk = {
  seen: readStorageMarker,
  mark: markStorage,
  renew: renewStorageMarker,
  names: (root) => readdir(root),
  ownerOf,
  changedAtMs: (root, below) => lastChange(join(root, below)),
  files,
  compare: compareFiles,
  digests: (root, below, paths, bytesMax) => digestsOf(root, below, paths, bytesMax, systemClock),
  read,
  removeFolder: removeWhole,
  removeFiles: (root, below, globs) => removeMatching(root, below, globMatcher(globs)),
};

async function ownerOf(root: string, below: string): Promise<number | null> {
  try {
    const folder = await FolderOfOthers.open(root, below);
    return folder === null ? null : folder.owner;
  } catch (error) {
    if (error instanceof NotInside) return null;
    throw error;
  }
}

async function lastChange(path: string): Promise<number> {
  const stats = await lstat(path).catch(() => null);
  if (stats === null) return Number.POSITIVE_INFINITY;
  let latest = stats.mtimeMs;
  if (!stats.isDirectory()) return latest;
  for (const name of await readdir(path).catch(() => [])) {
    latest = Math.max(latest, await lastChange(join(path, name)));
  }
  return latest;
}

async function files(root: string, below: string, max: number): Promise<Listing> {
  try {
    const folder = await FolderOfOthers.open(root, below);
    return { files: (await folder?.files(max)) ?? [] };
  } catch (error) {
    if (error instanceof NotInside) return { problem: error.message };
    throw error;
  }
}

async function read(root: string, below: string, path: string): Promise<OpenedFile> {
  const folder = await FolderOfOthers.open(root, below);
  if (folder === null) throw new Error(`${join(root, below)} is not there`);
  const { handle, stats } = await folder.file(path);
  return {
    bytes: stats.size,
    mode: stats.mode,
    changedAtMs: stats.mtimeMs,
    content: contentOf(handle, stats.size),
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

async function* contentOf(handle: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  let left = size;
  while (left > 0) {
    const buffer = Buffer.allocUnsafe(Math.min(left, chunkBytes));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length);
    if (bytesRead === 0) return;
    left -= bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
