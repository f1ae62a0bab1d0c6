/** Blobs in memory, for tests. */
import { createHash } from "node:crypto";
import { checkKey, digestMismatch } from "../faults.ts";
import type { BlobStore } from "../port.ts";

export function createMemoryBlobStore(): BlobStore {
  const blobs = new Map<string, Buffer>();
  return {
    async put(key, content, sha256) {
      checkKey(key);
      const chunks: Uint8Array[] = [];
      for await (const chunk of content) chunks.push(chunk);
      const blob = Buffer.concat(chunks);
      const digest = createHash("sha256").update(blob).digest("hex");
      if (digest !== sha256) throw digestMismatch(key, sha256, digest);
      blobs.set(key, blob);
      return { bytes: blob.byteLength };
    },
    async get(key) {
      checkKey(key);
      const blob = blobs.get(key);
      return blob === undefined ? null : { bytes: blob.byteLength, stream: once(blob) };
    },
    async stat(key) {
      checkKey(key);
      const blob = blobs.get(key);
      return blob === undefined ? null : { bytes: blob.byteLength };
    },
    async delete(key) {
      checkKey(key);
      blobs.delete(key);
    },
    async signedUrl(key) {
      checkKey(key);
      return null;
    },
  };
}

async function* once(blob: Uint8Array): AsyncIterable<Uint8Array> {
  if (blob.byteLength > 0) yield blob;
}
