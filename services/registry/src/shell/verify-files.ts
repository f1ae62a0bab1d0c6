/**
 * Compares the files of a checkpoint's folder with its manifest.
 *
 * Links do not count, nor do files below a linked folder: a link could name other content tomorrow. A missing or
 * different file counts only in the storage that the checkpoint was written to, as seen before and after reading: an
 * unmounted share looks like an empty folder.
 */
import { createHash } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { directoryDisk, problemOfStorage } from "@trainyard/blob";
import { type Clock, mapConcurrently, pause } from "@trainyard/kernel";
import type { Manifest, ManifestFile } from "../core/manifest.ts";
import { registryLimits } from "../limits.ts";

/** A checkpoint's folder, and the id of its storage; empty if unknown. */
export type FolderPlace = { readonly folder: string; readonly storageId: string };

export type Verdict =
  | { readonly kind: "verified" }
  | { readonly kind: "differs"; readonly path: string; readonly detail: string }
  /**
   * The storage is visible, but the folder or a file is missing, or a file is short: damaged, or not seen yet by a host
   * that caches names and sizes.
   */
  | { readonly kind: "absent"; readonly path: string; readonly detail: string }
  /** The storage cannot be read, so the files' state is unknown. */
  | { readonly kind: "unreadable"; readonly detail: string };

/** A file's digest, and the file's identity before and after it was read. */
export type KnownDigest = {
  readonly path: string;
  readonly identity: string;
  readonly sha256: string;
};

/** The error codes for a name that no file has, or can have. */
const absentCodes = new Set(["ENOENT", "ENOTDIR", "ENAMETOOLONG", "ELOOP"]);

/** Verifies the files of a folder. A file that has not changed since its digest became known is not read again. */
export async function verifyFiles(
  place: FolderPlace,
  manifest: Manifest,
  known: readonly KnownDigest[] = [],
): Promise<Verdict> {
  const before = place.storageId === "" ? null : await problemOf(place);
  if (before !== null) return { kind: "unreadable", detail: before };
  const verdict = await compareAll(place.folder, manifest, known);
  if (verdict.kind === "verified" || verdict.kind === "unreadable") return verdict;
  const after = await problemOf(place);
  if (after === null) return verdict;
  const file = `the file ${JSON.stringify(verdict.path)} ${verdict.detail}`;
  return { kind: "unreadable", detail: `${file}, and ${after}` };
}

/**
 * Returns the reason why differences do not count; null if this host sees the storage that the checkpoint was written
 * to.
 */
export async function problemOf({ folder, storageId }: FolderPlace): Promise<string | null> {
  const root = dirname(folder);
  return problemOfStorage(root, storageId, await directoryDisk.seen(root));
}

async function compareAll(
  folder: string,
  manifest: Manifest,
  known: readonly KnownDigest[],
): Promise<Verdict> {
  const whole = await realpath(folder).catch((error: unknown) => error);
  if ((whole as NodeJS.ErrnoException).code === "ENOENT") {
    const path = manifest[0]?.path ?? "";
    return { kind: "absent", path, detail: "is missing, with its whole folder" };
  }
  const byPath = new Map(known.map((one) => [one.path, one]));
  let found: Verdict = { kind: "verified" };
  await mapConcurrently(manifest, registryLimits.filesHashedAtOnce, async (file) => {
    if (found.kind !== "verified") return;
    const verdict = await verifyFile(folder, file, byPath.get(file.path));
    if (verdict.kind !== "verified") found = verdict;
  });
  return found;
}

export async function verifyFile(
  folder: string,
  file: ManifestFile,
  known?: KnownDigest,
): Promise<Verdict> {
  const path = join(folder, file.path);
  const differs = (detail: string): Verdict => ({ kind: "differs", path: file.path, detail });
  const absent = (detail: string): Verdict => ({ kind: "absent", path: file.path, detail });
  try {
    await using handle = await openOwn(folder, file.path);
    if (handle === null) return differs("is a link");
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile()) return differs("is not a file");
    if (stats.size !== BigInt(file.bytes)) {
      const detail = `has ${stats.size} bytes, and the manifest says ${file.bytes}`;
      return stats.size < BigInt(file.bytes) ? absent(detail) : differs(detail);
    }
    const isKnown = known !== undefined && known.identity === identityOf(stats);
    const digest = isKnown ? known.sha256 : await digestOf(handle, stats.size);
    if (digest === file.sha256) return { kind: "verified" };
    return differs(`has SHA-256 ${digest}, and the manifest says ${file.sha256}`);
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return absent("is missing");
    if (absentCodes.has(code)) return differs("is missing");
    return { kind: "unreadable", detail: `${path}: ${message}` };
  }
}

/** Returns the digests of a folder's files, up to the byte limit for reading ahead. */
export async function digestsAhead(
  folder: string,
  paths: readonly string[],
  clock: Clock,
  bytesMax: number = registryLimits.readAheadBytesMax,
): Promise<readonly KnownDigest[]> {
  let left = BigInt(bytesMax);
  const claim = (bytes: bigint): boolean => {
    if (bytes > left) return false;
    left -= bytes;
    return true;
  };
  const read = (path: string) => digestAhead(folder, path, clock, claim);
  const found = await mapConcurrently(paths, registryLimits.filesHashedAtOnce, read);
  return found.filter((one) => one !== null);
}

/**
 * Returns the digest of a file that did not change while it was read; null for any other file and for an unreadable
 * one. Two writes within one tick of the file system's clock have the same times, so a file is read only after a longer
 * time without a change.
 */
async function digestAhead(
  folder: string,
  path: string,
  clock: Clock,
  claim: (bytes: bigint) => boolean,
): Promise<KnownDigest | null> {
  try {
    await using handle = await openOwn(folder, path);
    if (handle === null) return null;
    const first = await handle.stat({ bigint: true });
    if (!first.isFile() || !claim(first.size)) return null;
    await pause(clock, registryLimits.clockTickMs);
    const identity = identityOf(await handle.stat({ bigint: true }));
    if (identity !== identityOf(first)) return null;
    const sha256 = await digestOf(handle, first.size);
    const after = identityOf(await handle.stat({ bigint: true }));
    return after === identity ? { path, identity, sha256 } : null;
  } catch {
    // The completion finds the problem.
    return null;
  }
}

/** Opens a file of the folder for reading; null if a link is on the path. */
async function openOwn(folder: string, below: string): Promise<FileHandle | null> {
  const path = join(folder, below);
  if ((await realpath(path)) !== join(await realpath(folder), below)) return null;
  // O_NONBLOCK: opening a pipe would block a thread until someone writes to it.
  return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
}

/** Every change of a file changes its identity: the kernel sets `ctime`, and no program can. */
function identityOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
}

/**
 * Reads the next piece while the current one is hashed. If the file grows, at most one piece beyond its size is read,
 * which changes the digest.
 */
async function digestOf(handle: FileHandle, size: bigint): Promise<string> {
  const hash = createHash("sha256");
  const bytes = registryLimits.hashChunkBytes;
  let [piece, next] = [Buffer.allocUnsafe(bytes), Buffer.allocUnsafe(bytes)];
  let reading = handle.read(piece, 0, bytes);
  for (let total = 0; ; ) {
    const { bytesRead } = await reading;
    total += bytesRead;
    const isEnd = bytesRead === 0 || total > size;
    if (!isEnd) reading = handle.read(next, 0, bytes);
    // This handler prevents an unhandled rejection; the next turn awaits the read and gets its error.
    reading.catch(() => undefined);
    hash.update(piece.subarray(0, bytesRead));
    if (isEnd) return hash.digest("hex");
    [piece, next] = [next, piece];
  }
}
