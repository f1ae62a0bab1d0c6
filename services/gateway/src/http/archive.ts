/**
 * Streams a gzip-compressed tar of files, with one file open at a time. The file is closed however the stream ends: at
 * its end, on an error, or when the reader disconnects. A file that cannot be read as announced breaks the stream, so
 * that a partial archive cannot be mistaken for a complete one.
 */
import { pipeline, Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { Header, Pax } from "tar";

const blockBytes = 512;

export type ArchiveFile = {
  readonly path: string;
  /** The expected size; absent if the file may have any size. */
  readonly bytes?: number;
  readonly open: () => Promise<OpenedContent>;
};

export type OpenedContent = AsyncDisposable & {
  readonly bytes: number;
  /** By default the file is readable by all, and has no time. */
  readonly mode?: number;
  readonly changedAtMs?: number;
  readonly content: AsyncIterable<Uint8Array>;
};

/**
 * Makes an archive of files that are opened one after the other. `onFailed` is called with an error, but not when the
 * reader disconnects.
 */
export function archiveOf(
  files: Iterable<ArchiveFile> | AsyncIterable<ArchiveFile>,
  onFailed: (error: Error) => void,
): Readable {
  return compressed(tarOf(files), onFailed);
}

function compressed(tar: AsyncIterable<Uint8Array>, onFailed: (error: Error) => void): Readable {
  return pipeline(Readable.from(tar), createGzip(), (error) => {
    if (error && error.code !== "ERR_STREAM_PREMATURE_CLOSE") onFailed(error);
  });
}

async function* tarOf(
  files: Iterable<ArchiveFile> | AsyncIterable<ArchiveFile>,
): AsyncGenerator<Uint8Array> {
  for await (const { path, bytes: expected, open } of files) {
    await using file = await open();
    const { bytes, mode = 0o644, changedAtMs = 0 } = file;
    if (expected !== undefined && bytes !== expected) throw shrunk(path, bytes, expected);
    yield headerOf(path, { size: bytes, mode, mtime: new Date(changedAtMs) });
    let found = 0;
    for await (const chunk of file.content) {
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

/** Returns the padding to the end of a tar block. */
function paddingOf(size: number): Buffer {
  return Buffer.alloc((blockBytes - (size % blockBytes)) % blockBytes);
}

function shrunk(path: string, found: number, expected: number): Error {
  return new Error(`${path} has ${found} bytes instead of ${expected}: download it again`);
}
