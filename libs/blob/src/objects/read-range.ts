import type { FileHandle } from "node:fs/promises";

const chunkBytes = 64 * 1024;

/** Reads bytes of an open file, which stays open whatever happens to the reader. */
export async function* readRange(
  file: FileHandle,
  offset = 0,
  bytes = Number.POSITIVE_INFINITY,
): AsyncGenerator<Uint8Array> {
  for (let at = offset; at < offset + bytes; ) {
    const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, offset + bytes - at));
    const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
    if (bytesRead === 0) return;
    yield chunk.subarray(0, bytesRead);
    at += bytesRead;
  }
}
