/**
 * Compares the files of a checkpoint's folder with its manifest. A file counts only where it lies itself: a link, also one
 * in the place of a folder on the way, could name other content tomorrow. That a file differs, or is missing, counts only
 * in the storage that the checkpoint was written to, before and after it was looked for: a share that is not mounted here
 * is an empty folder like any other.
 */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { directoryDisk, problemOfStorage } from "@trainyard/blob";
import type { Manifest, ManifestFile } from "../core/manifest.ts";
import { registryLimits } from "../limits.ts";

/** A checkpoint's folder, and the id of the storage that it was written to; empty where nobody knows it. */
export type FolderPlace = { readonly folder: string; readonly storageId: string };

export type Verdict =
  | { readonly kind: "verified" }
  | { readonly kind: "differs"; readonly path: string; readonly detail: string }
  /** The storage is there, and the folder as a whole is not: deleted, or not seen yet by a host that caches names. */
  | { readonly kind: "absent"; readonly path: string; readonly detail: string }
  /** The storage cannot be read now: nothing is known of the files. */
  | { readonly kind: "unreadable"; readonly detail: string };

/** What a name gets that no file has, or can have. */
const absentCodes = new Set(["ENOENT", "ENOTDIR", "ENAMETOOLONG", "ELOOP"]);

export async function verifyFiles(place: FolderPlace, manifest: Manifest): Promise<Verdict> {
  const before = place.storageId === "" ? null : await problemOf(place);
  if (before !== null) return { kind: "unreadable", detail: before };
  const verdict = await compareAll(place.folder, manifest);
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

async function compareAll(folder: string, manifest: Manifest): Promise<Verdict> {
  const whole = await realpath(folder).catch((error: unknown) => error);
  if ((whole as NodeJS.ErrnoException).code === "ENOENT") {
    const path = manifest[0]?.path ?? "";
    return { kind: "absent", path, detail: "is missing, with its whole folder" };
  }
  const pending = [...manifest].reverse();
  let found: Verdict = { kind: "verified" };
  const lane = async (): Promise<void> => {
    for (;;) {
      const file = found.kind === "verified" ? pending.pop() : undefined;
      if (file === undefined) return;
      const verdict = await verifyFile(folder, file);
      if (verdict.kind !== "verified") found = verdict;
    }
  };
  await Promise.all(Array.from({ length: registryLimits.filesHashedAtOnce }, lane));
  return found;
}

export async function verifyFile(folder: string, file: ManifestFile): Promise<Verdict> {
  const path = join(folder, file.path);
  const differs = (detail: string): Verdict => ({ kind: "differs", path: file.path, detail });
  try {
    const real = await realpath(path);
    if (real !== join(await realpath(folder), file.path)) return differs("is a link");
    // A pipe in a file's place would hold up a thread until someone writes to it.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    await using handle = await open(path, flags);
    const stats = await handle.stat();
    if (!stats.isFile()) return differs("is not a file");
    if (stats.size !== file.bytes) {
      return differs(`has ${stats.size} bytes, and the manifest says ${file.bytes}`);
    }
    const digest = await digestOf(handle);
    if (digest === file.sha256) return { kind: "verified" };
    return differs(`has SHA-256 ${digest}, and the manifest says ${file.sha256}`);
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (absentCodes.has(code)) return differs("is missing");
    return { kind: "unreadable", detail: `${path}: ${message}` };
  }
}

async function digestOf(handle: FileHandle): Promise<string> {
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(registryLimits.hashChunkBytes);
  for (;;) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length);
    if (bytesRead === 0) return hash.digest("hex");
    hash.update(buffer.subarray(0, bytesRead));
  }
}
