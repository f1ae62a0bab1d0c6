/**
 * Compares the files of a checkpoint's folder with its manifest. A file counts only where it is itself: a link, also
 * one in the place of a folder on the way, could name other content tomorrow. That a file differs, or is missing,
 * counts only in the storage that the checkpoint was written to, before and after it was looked for: a share that is
 * not mounted here is an empty folder like any other.
 */
import { createHash } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { directoryDisk, problemOfStorage } from "@trainyard/blob";
import type { Manifest, ManifestFile } from "../core/manifest.ts";
import { registryLimits } from "../limits.ts";
import { inLanes } from "./in-lanes.ts";

/** A checkpoint's folder, and the id of the storage that it was written to; empty where nobody knows it. */
export type FolderPlace = { readonly folder: string; readonly storageId: string };

export type Verdict =
  | { readonly kind: "verified" }
  | { readonly kind: "differs"; readonly path: string; readonly detail: string }
  /** The storage is there, and the folder as a whole is not: deleted, or not seen yet by a host that caches names. */
  | { readonly kind: "absent"; readonly path: string; readonly detail: string }
  /** The storage cannot be read now: nothing is known of the files. */
  | { readonly kind: "unreadable"; readonly detail: string };

/** A file's digest, and the file as it was before and after it was read. */
export type KnownDigest = {
  readonly path: string;
  readonly identity: string;
  readonly sha256: string;
};

/** The placeholder of a name that no file has, or can have. */
const absentCodes = new Set(["ENOENT", "ENOTDIR", "ENAMETOOLONG", "ELOOP"]);

/**
 * Verifies the files of a folder. The bytes of a file that did not change since its digest became known are not read
 * again.
 */
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

/** Why nothing that differs counts now; null where this host sees the storage that the checkpoint was written to. */
async function problemOf({ folder, storageId }: FolderPlace): Promise<string | null> {
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
  const pending = [...manifest].reverse();
  let found: Verdict = { kind: "verified" };
  const lane = async (): Promise<void> => {
    for (;;) {
      const file = found.kind === "verified" ? pending.pop() : undefined;
      if (file === undefined) return;
      const verdict = await verifyFile(folder, file, byPath.get(file.path));
      if (verdict.kind !== "verified") found = verdict;
    }
  };
  await Promise.all(Array.from({ length: registryLimits.filesHashedAtOnce }, lane));
  return found;
}

export async function verifyFile(
  folder: string,
  file: ManifestFile,
  known?: KnownDigest,
): Promise<Verdict> {
  const path = join(folder, file.path);
  const differs = (detail: string): Verdict => ({ kind: "differs", path: file.path, detail });
  try {
    await using handle = await openOwn(folder, file.path);
    if (handle === null) return differs("is a link");
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile()) return differs("is not a file");
    if (stats.size !== BigInt(file.bytes)) {
      return differs(`has ${stats.size} bytes, and the manifest says ${file.bytes}`);
    }
    const isKnown = known !== undefined && known.identity === identityOf(stats);
    const digest = isKnown ? known.sha256 : await digestOf(handle, stats.size);
    if (digest === file.sha256) return { kind: "verified" };
    return differs(`has SHA-256 ${digest}, and the manifest says ${file.sha256}`);
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (absentCodes.has(code)) return differs("is missing");
    return { kind: "unreadable", detail: `${path}: ${message}` };
  }
}

/** Returns the digests of a folder's files, of as many as have together no more bytes than are read ahead. */
export async function digestsAhead(
  folder: string,
  paths: readonly string[],
  bytesMax: number = registryLimits.readAheadBytesMax,
): Promise<readonly KnownDigest[]> {
  let left = BigInt(bytesMax);
  const claim = (bytes: bigint): boolean => {
    if (bytes > left) return false;
    left -= bytes;
    return true;
  };
  const read = (path: string) => digestAhead(folder, path, claim);
  const found = await inLanes(paths, registryLimits.filesHashedAtOnce, read);
  return found.filter((one) => one !== null);
}

/**
 * The digest of a file that did not change while it was read; null for any other, and for what cannot be read. A write
 * within one tick of the file system's clock leaves the times of the write before it: so a file is read only after it
 * has been the same for longer.
 */
async function digestAhead(
  folder: string,
  path: string,
  claim: (bytes: bigint) => boolean,
): Promise<KnownDigest | null> {
  try {
    await using handle = await openOwn(folder, path);
    if (handle === null) return null;
    const first = await handle.stat({ bigint: true });
    if (!first.isFile() || !claim(first.size)) return null;
    await delay(registryLimits.clockTickMs);
    const identity = identityOf(await handle.stat({ bigint: true }));
    if (identity !== identityOf(first)) return null;
    const sha256 = await digestOf(handle, first.size);
    const after = identityOf(await handle.stat({ bigint: true }));
    return after === identity ? { path, identity, sha256 } : null;
  } catch {
    // The completion finds what is wrong with it.
    return null;
  }
}

/** A file of the folder, open to be read; null where a link is on the way. */
async function openOwn(folder: string, below: string): Promise<FileHandle | null> {
  const path = join(folder, below);
  if ((await realpath(path)) !== join(await realpath(folder), below)) return null;
  // A pipe in a file's place would hold up a thread until someone writes to it.
  return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
}

/** Every change of a file changes it: the kernel sets `ctime`, which no program can. */
function identityOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
}

/**
 * Reads the next piece while this one is hashed; of a file that grows meanwhile one piece beyond its size, which is
 * another digest.
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
    // An error of a read that is not awaited yet is found by the next turn.
    reading.catch(() => undefined);
    hash.update(piece.subarray(0, bytesRead));
    if (isEnd) return hash.digest("hex");
    [piece, next] = [next, piece];
  }
}
