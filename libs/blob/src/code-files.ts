/**
 * Reads the files of packed model code that passed `refusalOfModelCode`, without unpacking it onto a disk. If a path
 * has several entries, the last one counts, as in unpacking.
 */
import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { Parser, type ReadEntry } from "tar";

export type CodeFile = {
  readonly path: string;
  readonly bytes: number;
  /** SHA-256 of the file's content, in hex; empty for a link. */
  readonly sha256: string;
  /** The target of a link; empty for a file. */
  readonly link: string;
  /** The content of a file that the caller keeps (`keeps`). */
  readonly content?: Buffer;
};

/** Bytes unpacked at once: bounds the memory and the time that each piece blocks the event loop. */
const pieceBytes = 64 * 1024;

/**
 * Lists the files of packed code by path, with the contents of those that `keeps` selects. Throws if the code cannot be
 * read.
 */
export async function codeFiles(
  packed: Readable,
  signal: AbortSignal,
  keeps: (path: string, bytes: number) => boolean = () => false,
): Promise<CodeFile[]> {
  const files = new Map<string, CodeFile>();
  await walk(packed, signal, (entry) => {
    const path = pathOf(entry);
    const { size: bytes, linkpath } = entry;
    const link = linkpath ?? "";
    if (path === "" || entry.type === "Directory") return entry.resume();
    if (link !== "") {
      files.set(path, { path, bytes: 0, sha256: "", link });
      return entry.resume();
    }
    const hash = createHash("sha256");
    const kept: Buffer[] | null = keeps(path, bytes) ? [] : null;
    entry.on("data", (piece: Buffer) => {
      hash.update(piece);
      kept?.push(Buffer.from(piece));
    });
    entry.on("end", () => {
      const content = kept === null ? {} : { content: Buffer.concat(kept) };
      files.set(path, { path, bytes, sha256: hash.digest("hex"), link, ...content });
    });
  });
  return [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Returns the first `bytesMax` bytes of the file at a path; null if the code has no such file. */
export async function codeFile(
  packed: Readable,
  path: string,
  bytesMax: number,
  signal: AbortSignal,
): Promise<Buffer | null> {
  let pieces: Buffer[] | null = null;
  await walk(packed, signal, (entry) => {
    if (pathOf(entry) !== path || entry.type === "Directory") return entry.resume();
    const own: Buffer[] = [];
    pieces = own;
    let left = bytesMax;
    entry.on("data", (piece: Buffer) => {
      if (left > 0) own.push(Buffer.from(piece.subarray(0, left)));
      left -= piece.length;
    });
  });
  return pieces === null ? null : Buffer.concat(pieces);
}

async function walk(
  packed: Readable,
  signal: AbortSignal,
  onReadEntry: (entry: ReadEntry) => void,
): Promise<void> {
  const parser = new Parser({ strict: true, onReadEntry });
  let problem: Error | null = null;
  parser.on("error", (error: Error) => {
    problem ??= error;
  });
  const gunzip = createGunzip({ chunkSize: pieceBytes });
  await pipeline(
    packed,
    gunzip,
    async (unpacked: AsyncIterable<Buffer>) => {
      for await (const piece of unpacked) {
        parser.write(piece);
        if (problem !== null) throw problem;
      }
      parser.end();
      if (problem !== null) throw problem;
    },
    { signal },
  );
}

/** Packers write ./train.py as well as train.py. */
function pathOf({ path }: ReadEntry): string {
  return path
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .join("/");
}
