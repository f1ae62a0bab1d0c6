/**
 * What packed model code may hold: a gzip-compressed tar of files, folders, and links that stay inside it. The gateway
 * refuses anything else before it is stored, the agent again before a byte is unpacked, since there it would do harm.
 */
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Parser } from "tar";

export const modelCodeLimits = {
  /** Training code has thousands of files at most; more is a dataset or an environment that was packed along. */
  entriesMax: 100_000,
  /** Of what it unpacks to, so that a small archive cannot fill an agent's disk. */
  unpackedBytesMax: 2 * 1024 * 1024 * 1024,
} as const;

/** Why it is refused, as the rest of a sentence that begins with what it is; null when it is not. */
export async function refusalOfModelCode(packed: Readable): Promise<string | null> {
  let entries = 0;
  let bytes = 0;
  let refusal: string | null = null;
  const parser = new Parser({
    strict: true,
    onReadEntry(entry) {
      entries += 1;
      bytes += entry.size;
      refusal ??= refusalOf(entry) ?? refusalOfSize(entries, bytes);
      entry.resume();
    },
  });
  try {
    await pipeline(packed, parser as unknown as NodeJS.WritableStream); // tar's parser is a writable stream in all but its type.
  } catch (error) {
    // The disk and the system are not the archive's fault.
    if (error instanceof Error && "syscall" in error) throw error;
    const detail = error instanceof Error ? error.message : String(error);
    return `it is not a readable gzip-compressed tar (${detail})`;
  }
  return refusal;
}

type Entry = {
  readonly path: string;
  readonly type: string;
  readonly linkpath?: string | undefined;
};

function refusalOfSize(entries: number, bytes: number): string | null {
  const { entriesMax, unpackedBytesMax } = modelCodeLimits;
  if (entries > entriesMax) return `it has more than ${entriesMax} entries`;
  return bytes > unpackedBytesMax ? "it unpacks to more than 2 GiB" : null;
}

function refusalOf(entry: Entry): string | null {
  if (escapes(entry.path)) return `${JSON.stringify(entry.path)} leads out of it`;
  const link = entry.type === "SymbolicLink" || entry.type === "Link";
  if (link && escapes(targetOf(entry))) {
    return `the link ${JSON.stringify(entry.path)} leads out of it`;
  }
  if (!link && !["File", "OldFile", "Directory"].includes(entry.type)) {
    return `${JSON.stringify(entry.path)} is neither a file, a folder nor a link`;
  }
  return null;
}

/** Where a link points, seen from the archive's root. A hard link's target is from there already. */
function targetOf({ path, type, linkpath = "" }: Entry): string {
  if (type === "Link" || linkpath.startsWith("/")) return linkpath;
  return [...path.split("/").slice(0, -1), linkpath].join("/");
}

function escapes(path: string): boolean {
  if (path.startsWith("/") || path.includes("\0")) return true;
  let depth = 0;
  for (const part of path.split("/")) {
    if (part === "..") depth -= 1;
    else if (part !== "" && part !== ".") depth += 1;
    if (depth < 0) return true;
  }
  return false;
}
