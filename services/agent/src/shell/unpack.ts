/**
 * Unpacks model code. The gateway has refused what leads out of the archive already; here it is checked again before a
 * byte is written, since this is where it would do harm. Only files, folders, and links that stay inside are unpacked.
 */
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { extract, Parser } from "tar";
import { limits } from "../limits.ts";

/** The archive is not what can be unpacked, with the reason for its owner. */
export class BadArchive extends Error {
  override readonly name = "BadArchive";
}

export async function unpack(packed: string, folder: string): Promise<void> {
  await check(packed);
  try {
    await extract({ file: packed, cwd: folder, strict: true, preserveOwner: false });
  } catch (error) {
    throw asBadArchive(error);
  }
}

async function check(packed: string): Promise<void> {
  let entries = 0;
  let bytes = 0;
  let refusal: string | null = null;
  const parser = new Parser({
    strict: true,
    onReadEntry(entry) {
      entries += 1;
      bytes += entry.size;
      refusal ??= refusalOf(entry);
      if (entries > limits.contextEntriesMax) refusal ??= "it has too many entries";
      if (bytes > limits.contextUnpackedBytesMax) refusal ??= "it unpacks to more than 2 GiB";
      entry.resume();
    },
  });
  try {
    await pipeline(createReadStream(packed), parser as unknown as NodeJS.WritableStream); // tar's parser is a writable stream in all but its type.
  } catch (error) {
    throw asBadArchive(error);
  }
  if (refusal !== null) throw new BadArchive(`the model code is refused: ${refusal}`);
  if (entries === 0)
    throw new BadArchive("the model code is refused: it is not a gzip-compressed tar with files");
}

/** The disk and the system are not the archive's fault. */
function asBadArchive(error: unknown): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  const ofSystem = ["ENOSPC", "EDQUOT", "EIO", "EMFILE", "ENFILE", "EACCES", "EROFS", "ENOENT"];
  if (code !== undefined && ofSystem.includes(code)) return error as Error;
  return new BadArchive(`the model code cannot be unpacked (${message})`);
}

type Entry = {
  readonly path: string;
  readonly type: string;
  readonly linkpath?: string | undefined;
};

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
