/** The files of stored model code, read as a stream: nothing is unpacked to disk, and only chosen contents are kept. */
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { Parser, type ReadEntry } from "tar";
import { gatewayLimits } from "../limits.ts";
import type { Backend } from "./backend.ts";

export type CodeFile = {
  readonly bytes: number;
  /** Of the content, or of a link the place that it leads to. */
  readonly identity: string;
  /** Null unless it was asked for. */
  readonly content: Buffer | null;
};

export type CodeFiles = ReadonlyMap<string, CodeFile>;

/** Null where the code is not there (any more). Folders are left out. */
export async function codeFiles(
  backend: Backend,
  digest: string,
  keeps: (path: string) => boolean = () => false,
): Promise<CodeFiles | null> {
  const packed = await backend.parts.blobs.get(`contexts/${digest}.tar.gz`);
  if (packed === null) return null;
  const files = new Map<string, CodeFile>();
  const parser = new Parser({ strict: true, onReadEntry: (entry) => read(entry, files, keeps) });
  const problems: Error[] = [];
  parser.on("error", (error: Error) => problems.push(error));
  const { contextPieceBytes: chunkSize } = gatewayLimits;
  await pipeline(Readable.from(packed.stream), createGunzip({ chunkSize }), async (unpacked) => {
    for await (const piece of unpacked as AsyncIterable<Buffer>) {
      parser.write(piece);
      if (problems[0] !== undefined) throw problems[0];
    }
  });
  parser.end();
  if (problems[0] !== undefined) throw problems[0];
  return files;
}

function read(
  entry: ReadEntry,
  files: Map<string, CodeFile>,
  keeps: (path: string) => boolean,
): void {
  const path = entry.path.replace(/^(\.\/)+/, "");
  const { size: bytes, linkpath = "" } = entry;
  if (entry.type === "SymbolicLink" || entry.type === "Link") {
    files.set(path, { bytes: 0, identity: `link to ${linkpath}`, content: null });
  }
  if (entry.type !== "File" && entry.type !== "OldFile") {
    entry.resume();
    return;
  }
  // An archive may have a path twice, and what was seen of it is the last one's size.
  const kept: Buffer[] | null = keeps(path) && bytes <= gatewayLimits.diffFileBytesMax ? [] : null;
  const hash = createHash("sha256");
  entry.on("data", (piece: Buffer) => {
    hash.update(piece);
    kept?.push(Buffer.from(piece));
  });
  entry.on("end", () => {
    const content = kept === null ? null : Buffer.concat(kept);
    files.set(path, { bytes, identity: hash.digest("hex"), content });
  });
}
