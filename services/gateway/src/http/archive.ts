/**
 * Streams a gzip-compressed tar of files in a folder that training code may write to, with one file open at a time. The
 * file is closed however the stream ends: at its end, on an error, or when the reader disconnects. A file that cannot
 * be read as announced breaks the stream, so that a partial archive cannot be mistaken for a complete one.
 */
import type { FileHandle } from "node:fs/promises";
import { pipeline, Readable } from "node:stream";
import { createGzip } from "node:zlib";
import type { FolderOfOthers } from "@trainyard/blob";
import { Header, Pax } from "tar";

/** The bytes that are read at once from a downloaded file. */
const archiveChunkBytes = 256 * 1024;

const blockBytes = 512;

export type ArchiveFile = {
  readonly path: string;
  /** The expected size; absent if the file may have any size. */
  readonly bytes?: number;
};

/** Makes the archive. `onFailed` is called with an error, but not when the reader disconnects. */
export function archiveOf(
  folder: FolderOfOthers,
  files: readonly ArchiveFile[],
  onFailed: (error: Error) => void,
): Readable {
  return compressed(tarOf(folder, files), onFailed);
}

/** A file whose bytes come from elsewhere; its size is known once it is opened. */
export type ArchivedStream = {
  readonly path: string;
  readonly open: () => Promise<{
    readonly bytes: number;
    readonly content: AsyncIterable<Uint8Array>;
  }>;
};

/** Makes an archive of files that are opened one after the other. */
export function archiveOfStreams(
  files: Iterable<ArchivedStream> | AsyncIterable<ArchivedStream>,
  onFailed: (error: Error) => void,
): Readable {
  return compressed(tarOfStreams(files), onFailed);
}

function compressed(tar: AsyncIterable<Uint8Array>, onFailed: (error: Error) => void): Readable {
  return pipeline(Readable.from(tar), createGzip(), (error) => {
    if (error && error.code !== "ERR_STREAM_PREMATURE_CLOSE") onFailed(error);
  });
}

async function* tarOf(
  folder: FolderOfOthers,
  files: readonly ArchiveFile[],
): AsyncGenerator<Buffer> {
  for (const { path, bytes } of files) {
    const { handle, stats } = await folder.file(path);
    await using _closed = handle;
    if (bytes !== undefined && stats.size !== bytes) throw shrunk(path, stats.size, bytes);
    yield headerOf(path, stats);
    yield* contentOf(handle, path, stats.size);
  }
  yield Buffer.alloc(2 * blockBytes);
}

async function* tarOfStreams(
  files: Iterable<ArchivedStream> | AsyncIterable<ArchivedStream>,
): AsyncGenerator<Uint8Array> {
  for await (const { path, open } of files) {
    const { bytes, content } = await open();
    yield headerOf(path, { size: bytes, mode: 0o644, mtime: new Date(0) });
    let found = 0;
    for await (const chunk of content) {
      found += chunk.byteLength;
      if (found > bytes) break;
      yield chunk;
    }
    if (found !== bytes) throw shrunk(path, found, bytes);
    yield paddingOf(bytes);
  }
  yield Buffer.alloc(2 * blockBytes);
}

function headerOf(
  path: string,
  stats: { readonly size: number; readonly mode: number; readonly mtime: Date },
): Buffer {
  // The mode is as in tar's portable archives: readable by the owner, and writable by no other user.
  const mode = (stats.mode | 0o600) & 0o755;
  const fields = { path, type: "File", size: stats.size, mode, mtime: stats.mtime } as const;
  const block = Buffer.alloc(blockBytes);
  const needsMore = new Header(fields).encode(block);
  return needsMore ? Buffer.concat([new Pax({ path, size: stats.size }).encode(), block]) : block;
}

/** Reads exactly the number of bytes in the entry's header, even if the file is being written to. */
async function* contentOf(handle: FileHandle, path: string, size: number): AsyncGenerator<Buffer> {
  let left = size;
  while (left > 0) {
    const buffer = Buffer.allocUnsafe(Math.min(left, archiveChunkBytes));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length);
    if (bytesRead === 0) throw shrunk(path, size - left, size);
    left -= bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
  yield paddingOf(size);
}

/** Returns the padding to the end of a tar block. */
function paddingOf(size: number): Buffer {
  return Buffer.alloc((blockBytes - (size % blockBytes)) % blockBytes);
}

function shrunk(path: string, found: number, expected: number): Error {
  return new Error(`${path} has ${found} bytes instead of ${expected}: download it again`);
}
