/**
 * Copies the blobs of a folder to an object store. Every file is read and compared with the digest of its name, and is
 * sent unless the store has it. It may be repeated at any time, also after it was killed, and beside services that use
 * the folder: it neither writes nor deletes there, and deletes nothing in the store.
 */
import { readdir, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { isFault, mapConcurrently } from "@trainyard/kernel";
import type { ObjectBlobs } from "./objects/object-blobs.ts";
import { storageFaults } from "./objects/store-brake.ts";

export type CopyOptions = {
  readonly folder: string;
  readonly to: Pick<ObjectBlobs, "putFile">;
  /** The SHA-256 in a blob's key; null for a file that is no blob. */
  readonly digestOf: (key: string) => string | null;
  readonly onProgress?: (done: number, of: number) => void;
};

export type Copied = {
  readonly copied: number;
  readonly copiedBytes: number;
  /** The blobs that the store had already. */
  readonly there: number;
  /** The blobs that were deleted from the folder meanwhile. */
  readonly gone: number;
  /** The blobs that were not copied, each with the reason. */
  readonly left: readonly { readonly key: string; readonly why: string }[];
  /** The files that are no blobs. */
  readonly others: readonly string[];
};

const atOnce = 8;
/** The folder of unfinished blobs. */
const drafts = ".incoming";

/** Throws the Fault of a store that refuses or does not answer. */
export async function copyBlobs({ folder, to, ...options }: CopyOptions): Promise<Copied> {
  const { digestOf, onProgress = () => {} } = options;
  const files = await filesBelow(folder);
  const keys = files.filter((key) => digestOf(key) !== null);
  const left: { key: string; why: string }[] = [];
  const count = { copied: 0, copiedBytes: 0, there: 0, gone: 0 };
  let done = 0;
  await mapConcurrently(keys, atOnce, async (key) => {
    const path = join(folder, key);
    try {
      const { size } = await stat(path);
      const isSent = await to.putFile(key, path, digestOf(key) ?? "");
      count[isSent ? "copied" : "there"] += 1;
      if (isSent) count.copiedBytes += size;
    } catch (error) {
      if (isFault(error) && storageFaults.includes(error.code)) throw error;
      const { code = "", message } = error as NodeJS.ErrnoException;
      if (code === "ENOENT") count.gone += 1;
      else left.push({ key, why: message });
    }
    done += 1;
    onProgress(done, keys.length);
  });
  const others = files.filter((key) => digestOf(key) === null);
  return { ...count, left: left.toSorted((a, b) => (a.key < b.key ? -1 : 1)), others };
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((key) => !key.startsWith(`${drafts}/`))
    .toSorted();
}
