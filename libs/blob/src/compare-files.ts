/**
 * Compares the files of a folder with what they should be.
 *
 * Links do not count, nor do files below a linked folder: a link could name other content tomorrow.
 */
import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { type Clock, mapConcurrently, pause } from "@trainyard/kernel";
import { FolderOfOthers, NotInside } from "./folder-of-others.ts";
import type { CompareOptions } from "./storage-disk.ts";

/** Without a SHA-256 only the size is compared. */
export type ExpectedFile = {
  readonly path: string;
  readonly bytes: number;
  readonly sha256?: string;
};

/** `detail` continues a sentence that begins with the path. */
export type Difference = {
  readonly path: string;
  readonly kind: "missing" | "resized" | "flipped" | "not_a_file";
  readonly detail: string;
  /** Set if a host that caches names and sizes may see the file so although it is right. */
  readonly mayBeStale?: true;
};

export type Comparison =
  | {
      readonly kind: "compared";
      readonly differences: readonly Difference[];
      /** The paths of files that were not expected. */
      readonly extras: readonly string[];
    }
  /** The whole folder is missing. */
  | { readonly kind: "absent" }
  /** A file cannot be read, so its content is unknown. */
  | { readonly kind: "unreadable"; readonly detail: string };

/** A file's digest, and the file's identity before and after it was read. */
export type KnownDigest = {
  readonly path: string;
  readonly identity: string;
  readonly sha256: string;
};

/** Files that are hashed concurrently: enough to keep one disk busy without seeking. */
const filesAtOnce = 4;
const chunkBytes = 1024 * 1024;
/** Longer than a tick of the clock for file times: at most 10 ms in Linux. */
const clockTickMs = 20;

/** The error codes for a name that no file has, or can have. */
const absentCodes = new Set(["ENOENT", "ENAMETOOLONG"]);

class Unreadable extends Error {}

export async function compareFiles(
  root: string,
  below: string,
  files: readonly ExpectedFile[],
  { known = [], every = false }: CompareOptions = {},
): Promise<Comparison> {
  try {
    const folder = await FolderOfOthers.open(root, below);
    if (folder === null) return { kind: "absent" };
    const knownOf = new Map(known.map((one) => [one.path, one]));
    const differences: Difference[] = [];
    await mapConcurrently(files, filesAtOnce, async (file) => {
      if (!every && differences.length > 0) return;
      const difference = await compareFile(folder, file, knownOf.get(file.path));
      if (difference !== null) differences.push(difference);
    });
    if (!every) return { kind: "compared", differences: differences.slice(0, 1), extras: [] };
    return { kind: "compared", differences, extras: await extrasOf(folder, files) };
  } catch (error) {
    if (error instanceof NotInside) {
      const detail = `is in a folder that ${error.message}`;
      const [path = ""] = files.map((file) => file.path);
      return { kind: "compared", differences: [{ path, kind: "not_a_file", detail }], extras: [] };
    }
    return { kind: "unreadable", detail: error instanceof Error ? error.message : String(error) };
  }
}

async function compareFile(
  folder: FolderOfOthers,
  { path, bytes, sha256 }: ExpectedFile,
  known: KnownDigest | undefined,
): Promise<Difference | null> {
  const differs = (kind: Difference["kind"], detail: string) => ({ path, kind, detail });
  const stale = { mayBeStale: true } as const;
  try {
    const { handle, stats } = await folder.file(path);
    await using opened = handle;
    if (stats.size !== bytes) {
      const detail = `has ${stats.size} bytes, and the manifest says ${bytes}`;
      return { ...differs("resized", detail), ...(stats.size < bytes && stale) };
    }
    if (sha256 === undefined) return null;
    const isKnown = known !== undefined && known.identity === (await identityOf(opened));
    const digest = isKnown ? known.sha256 : await digestOf(opened, stats.size);
    if (digest === sha256) return null;
    return differs("flipped", `has SHA-256 ${digest}, and the manifest says ${sha256}`);
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (error instanceof NotInside) return differs("not_a_file", message);
    if (absentCodes.has(code)) {
      return { ...differs("missing", "is missing"), ...(code === "ENOENT" && stale) };
    }
    throw new Unreadable(`${path}: ${message}`, { cause: error });
  }
}

async function extrasOf(
  folder: FolderOfOthers,
  files: readonly ExpectedFile[],
): Promise<readonly string[]> {
  const expected = new Set(files.map(({ path }) => path));
  const extras: string[] = [];
  for await (const { path, kind } of folder.entries()) {
    if (kind !== "folder" && !expected.has(path)) extras.push(path);
  }
  return extras;
}

/** Returns the digests of a folder's files, up to the byte limit. */
export async function digestsOf(
  root: string,
  below: string,
  paths: readonly string[],
  bytesMax: number,
  clock: Clock,
): Promise<readonly KnownDigest[]> {
  const folder = await FolderOfOthers.open(root, below);
  if (folder === null) return [];
  let left = bytesMax;
  const claim = (bytes: number): boolean => {
    if (bytes > left) return false;
    left -= bytes;
    return true;
  };
  const read = (path: string) => stillDigest(folder, path, claim, clock);
  const found = await mapConcurrently(paths, filesAtOnce, read);
  return found.filter((one) => one !== null);
}

/**
 * Returns the digest of a file that did not change while it was read; null for any other file and for an unreadable
 * one. Two writes within one tick of the file system's clock have the same times, so a file is read only after a longer
 * time without a change.
 */
async function stillDigest(
  folder: FolderOfOthers,
  path: string,
  claim: (bytes: number) => boolean,
  clock: Clock,
): Promise<KnownDigest | null> {
  try {
    const { handle, stats } = await folder.file(path);
    await using opened = handle;
    const first = await identityOf(opened);
    if (!claim(stats.size)) return null;
    await pause(clock, clockTickMs);
    const identity = await identityOf(opened);
    if (identity !== first) return null;
    const sha256 = await digestOf(opened, stats.size);
    return (await identityOf(opened)) === identity ? { path, identity, sha256 } : null;
  } catch {
    // The comparison finds the problem.
    return null;
  }
}

/** Every change of a file changes its identity: the kernel sets `ctime`, and no program can. */
async function identityOf(handle: FileHandle): Promise<string> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await handle.stat({ bigint: true });
  return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
}

/**
 * Reads the next piece while the current one is hashed. If the file grows, at most one piece beyond its size is read,
 * which changes the digest.
 */
async function digestOf(handle: FileHandle, size: number): Promise<string> {
  const hash = createHash("sha256");
  let [piece, next] = [Buffer.allocUnsafe(chunkBytes), Buffer.allocUnsafe(chunkBytes)];
  let reading = handle.read(piece, 0, chunkBytes);
  for (let total = 0; ; ) {
    const { bytesRead } = await reading;
    total += bytesRead;
    const isEnd = bytesRead === 0 || total > size;
    if (!isEnd) reading = handle.read(next, 0, chunkBytes);
    // This handler prevents an unhandled rejection; the next turn awaits the read and gets its error.
    reading.catch(() => undefined);
    hash.update(piece.subarray(0, bytesRead));
    if (isEnd) return hash.digest("hex");
    [piece, next] = [next, piece];
  }
}
