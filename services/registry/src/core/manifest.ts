/** A stored manifest: every file of a checkpoint by its path, with size and SHA-256, sorted by path. */
import { type FieldProblem, type Rejection, reject } from "@trainyard/kernel";
import { registryLimits } from "../limits.ts";

export type ManifestFile = {
  readonly path: string;
  readonly bytes: number;
  /** The SHA-256 in hexadecimal. */
  readonly sha256: string;
};

export type Manifest = readonly ManifestFile[];

const sha256Pattern = /^[0-9a-f]{64}$/;

/**
 * Returns the files sorted by path, or a rejection: for a path outside the folder, a duplicate path, or an invalid
 * size.
 */
export function readManifest(files: readonly ManifestFile[]): Manifest | Rejection {
  const { filesMax, manifestCharactersMax } = registryLimits;
  if (files.length === 0) return reject("invalid_manifest", "the manifest contains no file");
  if (files.length > filesMax) {
    const detail = `the manifest names ${files.length} files, and a checkpoint holds at most ${filesMax}: pack them`;
    return reject("invalid_manifest", detail);
  }
  const characters = JSON.stringify(files).length;
  if (characters > manifestCharactersMax) {
    const detail = `the manifest has ${characters} characters as JSON and may have ${manifestCharactersMax}: pack the files`;
    return reject("invalid_manifest", detail);
  }
  const problems: FieldProblem[] = [];
  const seen = new Set<string>();
  for (const file of files) {
    const detail = problemOf(file, seen);
    seen.add(file.path);
    if (detail !== null) problems.push({ path: file.path, detail });
  }
  const first = problems[0];
  if (first !== undefined) {
    const detail = `the file ${shownPath(first.path)} ${first.detail}`;
    return reject("invalid_manifest", detail, problems.slice(0, registryLimits.problemsToldMax));
  }
  return files
    .map(({ path, bytes, sha256 }) => ({ path, bytes, sha256 }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Quotes a path, shortened for a person to read. */
function shownPath(path: string): string {
  const { pathCharactersShownMax: most } = registryLimits;
  return path.length <= most ? JSON.stringify(path) : `${JSON.stringify(path.slice(0, most))}…`;
}

function problemOf({ path, bytes, sha256 }: ManifestFile, seen: ReadonlySet<string>) {
  if (!staysInside(path)) return "is outside of the checkpoint's folder";
  if (path.length > registryLimits.pathCharactersMax) return "has too long a path";
  if (seen.has(path)) return "is named twice";
  if (!Number.isSafeInteger(bytes) || bytes < 0) return "has an invalid number of bytes";
  if (!sha256Pattern.test(sha256)) return "has a SHA-256 that is not 64 hexadecimal digits";
  return null;
}

/** Accepts relative paths of plain names. A NUL is refused, since it would end the path for the operating system. */
export function staysInside(path: string): boolean {
  if (path.includes("\0")) return false;
  return path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}

/** The text whose digest is the manifest's digest. */
export function canonicalText(manifest: Manifest): string {
  return JSON.stringify(manifest.map(({ path, bytes, sha256 }) => [path, bytes, sha256]));
}

export function bytesOf(manifest: Manifest): number {
  return manifest.reduce((sum, { bytes }) => sum + bytes, 0);
}
