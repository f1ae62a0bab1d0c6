/**
 * Blobs as objects below a prefix of a bucket. The SHA-256 of a blob must be known before its first byte is sent, so
 * content passes through a file of the temporary folder that has no name any more: a crash leaves nothing behind. The
 * store makes an object of it only when it has all bytes, and signs what they are, so a reader never sees another blob.
 *
 * A store that refuses, does not answer or is not there is a Fault of `storageFaults`, whose message names it.
 */
import { randomUUID } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isFault } from "@trainyard/kernel";
import { checkKey, digestMismatch, storeFailed } from "../faults.ts";
import type { BlobContent, BlobStat, BlobStore } from "../port.ts";
import type { BlobClaim } from "./blob-claim.ts";
import { Measured } from "./measured.ts";
import type { FileDigests, ObjectStore } from "./port.ts";
import { readRange } from "./read-range.ts";
import { sendFile } from "./send-file.ts";
import type { StoreBrake } from "./store-brake.ts";

export type ObjectBlobsDeps = {
  /** The store with the credentials of now. */
  readonly store: () => Promise<ObjectStore>;
  readonly brake: StoreBrake;
  /** Asked before anything is stored, named or deleted; absent for a service that only reads. */
  readonly claim?: BlobClaim | undefined;
};

export class ObjectBlobs implements BlobStore {
  readonly #deps: ObjectBlobsDeps;

  constructor(deps: ObjectBlobsDeps) {
    this.#deps = deps;
  }

  async put(key: string, content: AsyncIterable<Uint8Array>, sha256: string): Promise<BlobStat> {
    checkKey(key);
    const { partBytes } = await this.#deps.store();
    const { file, digests } = await spooled(key, content, partBytes);
    try {
      if (digests.sha256 !== sha256) throw digestMismatch(key, sha256, digests.sha256);
      await this.#owned((store) => sendFile(store, key, file, digests));
      return { bytes: digests.bytes };
    } finally {
      await file.close();
    }
  }

  /** Stores a file of this host. Returns false if the store had it already, by the checksum that the store keeps. */
  async putFile(key: string, path: string, sha256: string): Promise<boolean> {
    checkKey(key);
    const { partBytes } = await this.#deps.store();
    const measured = new Measured(partBytes);
    await using file = await open(path, "r");
    for await (const chunk of readRange(file)) measured.add(chunk);
    const digests = measured.digests();
    if (digests.sha256 !== sha256) throw digestMismatch(key, sha256, digests.sha256);
    return await this.#owned((store) => sendFile(store, key, file, digests));
  }

  async get(key: string): Promise<BlobContent | null> {
    checkKey(key);
    return this.#ask((store) => store.open(key));
  }

  async stat(key: string): Promise<BlobStat | null> {
    checkKey(key);
    // Another cluster may delete what it stored, so that does not count as stored.
    const head = await this.#owned((store) => store.head(key));
    return head === null ? null : { bytes: head.bytes };
  }

  async delete(key: string): Promise<void> {
    checkKey(key);
    await this.#owned((store) => store.delete([key]));
  }

  async signedUrl(key: string): Promise<string> {
    checkKey(key);
    return (await this.#ask((store) => store.planDownload(key))).url;
  }

  #owned<Result>(work: (store: ObjectStore) => Promise<Result>): Promise<Result> {
    return this.#ask(async (store) => {
      await this.#deps.claim?.check(store);
      return work(store);
    });
  }

  async #ask<Result>(work: (store: ObjectStore) => Promise<Result>): Promise<Result> {
    const store = await this.#deps.store();
    return this.#deps.brake.ask(store, () => work(store));
  }
}

type Spooled = { readonly file: FileHandle; readonly digests: FileDigests };

/** Writes content into a file without a name, which ends with its last handle. */
async function spooled(
  key: string,
  content: AsyncIterable<Uint8Array>,
  partBytes: number,
): Promise<Spooled> {
  const path = join(tmpdir(), `trainyard-spool-${randomUUID()}`);
  const measured = new Measured(partBytes);
  let file: FileHandle | null = null;
  try {
    file = await open(path, "wx+", 0o600);
    await rm(path);
    await file.writeFile(measured.through(content));
    return { file, digests: measured.digests() };
  } catch (error) {
    await file?.close();
    throw isFault(error) ? error : storeFailed("stored", key, error);
  }
}
