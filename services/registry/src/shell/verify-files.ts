/**
 * Compares the files of a checkpoint's folder with its manifest. A file counts only where it lies itself: a link, also one
 * in the place of a folder on the way, could name other content tomorrow.
 */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Manifest, ManifestFile } from "../core/manifest.ts";
import { registryLimits } from "../limits.ts";

export type Verdict =
  | { readonly kind: "verified" }
  | { readonly kind: "differs"; readonly path: string; readonly detail: string }
  /** The storage cannot be read now: nothing is known of the files. */
  | { readonly kind: "unreadable"; readonly detail: string };

/** What a name gets that no file has, or can have. */
const absentCodes = new Set(["ENOENT", "ENOTDIR", "ENAMETOOLONG", "ELOOP"]);

export async function verifyFiles(folder: string, manifest: Manifest): Promise<Verdict> {
  const storage = await realpath(dirname(folder)).catch(() => null);
  if (storage === null) return { kind: "unreadable", detail: `${dirname(folder)} is not there` };
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

async function verifyFile(folder: string, file: ManifestFile): Promise<Verdict> {
  const path = join(folder, file.path);
  const differs = (detail: string): Verdict => ({ kind: "differs", path: file.path, detail });
  try {
    const real = await realpath(path);
    if (real !== join(await realpath(folder), file.path)) return differs("is a link");
    // A pipe in a file's place would hold up a thread until someone writes to it.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    await using handle = await open(path, flags);
    const stats = await handle.stat();
    if (!stats.isFile()) return differs("is no file");
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
