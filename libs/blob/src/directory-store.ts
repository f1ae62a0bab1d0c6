/**
 * Blobs as files below a folder. A blob is written in `.incoming`, flushed, and renamed into place, and the folder
 * entry is flushed too. A crash leaves the old blob, the new blob, or a file in `.incoming`, which a later start
 * removes after a day.
 */
import { createHash, randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Clock, isFault } from "@trainyard/kernel";
import { checkKey, digestMismatch, storeFailed } from "./faults.ts";
import { flushFolder } from "./flush-folder.ts";
import type { BlobContent, BlobStat, BlobStore } from "./port.ts";

/** The age at which an unfinished upload counts as abandoned. */
const incomingAgeMsMax = 24 * 60 * 60 * 1000;

/** Opens the folder, or creates it with access for its owner only. */
export async function openDirectoryBlobStore(root: string, clock: Clock): Promise<BlobStore> {
  const incoming = join(root, ".incoming");
  await mkdir(incoming, { recursive: true, mode: 0o700 });
  await removeAbandoned(incoming, clock);
  return new DirectoryBlobStore(root, incoming);
}

async function removeAbandoned(incoming: string, clock: Clock): Promise<void> {
  const oldest = clock.nowMs() - incomingAgeMsMax;
  for (const name of await readdir(incoming)) {
    const path = join(incoming, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (mtimeMs < oldest) await rm(path, { force: true });
  }
}

class DirectoryBlobStore implements BlobStore {
  readonly #root: string;
  readonly #incoming: string;

  constructor(root: string, incoming: string) {
    this.#root = root;
    this.#incoming = incoming;
  }

  async put(key: string, content: AsyncIterable<Uint8Array>, sha256: string): Promise<BlobStat> {
    checkKey(key);
    const written = join(this.#incoming, randomUUID());
    try {
      const { bytes, digest } = await writeFlushed(written, content);
      if (digest !== sha256) throw digestMismatch(key, sha256, digest);
      const path = join(this.#root, key);
      await makeFolder(this.#root, dirname(path));
      await rename(written, path);
      await flushFolder(dirname(path));
      return { bytes };
    } catch (error) {
      await rm(written, { force: true }).catch(() => {}); // A later start removes the file.
      throw isFault(error) ? error : storeFailed("stored", key, error);
    }
  }

  async get(key: string): Promise<BlobContent | null> {
    checkKey(key);
    const file = await open(join(this.#root, key), "r").catch(absent("read", key));
    if (file === null) return null;
    const stats = await file.stat();
    if (!stats.isFile()) {
      await file.close();
      return null;
    }
    return { bytes: stats.size, stream: file.createReadStream() };
  }

  async stat(key: string): Promise<BlobStat | null> {
    checkKey(key);
    const stats = await stat(join(this.#root, key)).catch(absent("looked at", key));
    return stats?.isFile() === true ? { bytes: stats.size } : null;
  }

  async delete(key: string): Promise<void> {
    checkKey(key);
    const path = join(this.#root, key);
    if ((await this.stat(key)) === null) return;
    await rm(path, { force: true }).catch((error: unknown) => {
      throw storeFailed("deleted", key, error);
    });
    await flushFolder(dirname(path));
  }

  async signedUrl(key: string): Promise<null> {
    checkKey(key);
    return null;
  }
}

async function writeFlushed(
  path: string,
  content: AsyncIterable<Uint8Array>,
): Promise<{ bytes: number; digest: string }> {
  const file = await open(path, "wx", 0o600);
  const hash = createHash("sha256");
  let bytes = 0;
  try {
    for await (const chunk of content) {
      hash.update(chunk);
      bytes += chunk.byteLength;
      await writeAll(file, chunk);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return { bytes, digest: hash.digest("hex") };
}

async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  let offset = 0;
  while (offset < chunk.byteLength) {
    const { bytesWritten } = await file.write(chunk, offset);
    offset += bytesWritten;
  }
}

/** Each new folder is flushed into its parent: otherwise a power loss could remove the path to a durable file. */
async function makeFolder(root: string, folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let at = folder; at.length >= root.length; at = dirname(at)) await flushFolder(at);
}

const absentCodes = new Set(["ENOENT", "ENOTDIR", "EISDIR"]);

function absent(action: string, key: string): (error: unknown) => null {
  return (error) => {
    if (absentCodes.has((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw storeFailed(action, key, error);
  };
}
