/** An object store in memory, for simulations and tests. It passes the same contract suite as the real adapters. */
import { createHash, randomUUID } from "node:crypto";
import type { Clock } from "@trainyard/kernel";
import { away, bucketNotFound, refused, uploadIncomplete } from "../objects/faults.ts";
import {
  base64OfHex,
  checkFile,
  claimAll,
  compareWithFile,
  compositeSha256,
  missingOf,
  nothingMissing,
  type PartRange,
  partsOf,
} from "../objects/files.ts";
import { checkDeletion, checkObjectKey, keyPrefix } from "../objects/keys.ts";
import type {
  CopyResult,
  FileDigests,
  ListedObject,
  ObjectChecksum,
  ObjectContent,
  ObjectHead,
  ObjectStore,
  PlannedRequest,
  UploadOptions,
  UploadPlan,
} from "../objects/port.ts";

type Kept = {
  readonly content: Buffer;
  readonly checksum: ObjectChecksum;
  readonly writtenAtMs: number;
};
type Planned = {
  readonly take: (content: Uint8Array) => Buffer | null;
  readonly expiresAtMs: number;
};

/** A bucket that several stores may open; `state` simulates its failures. */
export class MemoryBucket {
  readonly clock: Clock;
  state: "there" | "away" | "refusing" | "absent" = "there";
  readonly objects = new Map<string, Kept>();
  /** The uploaded parts by key, then by the part's offset. */
  readonly uploads = new Map<string, Map<number, Buffer>>();
  readonly #planned = new Map<string, Planned>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  plan(
    method: PlannedRequest["method"],
    expiresAtMs: number,
    take: Planned["take"],
  ): PlannedRequest {
    const url = `memory:${randomUUID()}`;
    this.#planned.set(url, { take, expiresAtMs });
    return { method, url, headers: {}, accepted: [200], expiresAtMs };
  }

  /** Answers a planned request, in place of the store's server. */
  async send(
    { url }: PlannedRequest,
    content: Uint8Array,
  ): Promise<{ readonly status: number; readonly content: Uint8Array }> {
    const planned = this.#planned.get(url);
    const empty = Buffer.alloc(0);
    if (this.state === "away") return { status: 503, content: empty };
    const isOver = planned === undefined || this.clock.nowMs() > planned.expiresAtMs;
    if (isOver || this.state !== "there") return { status: 403, content: empty };
    const answer = planned.take(content);
    return answer === null ? { status: 400, content: empty } : { status: 200, content: answer };
  }
}

export type MemoryStoreOptions = {
  readonly prefix?: string;
  readonly partBytes?: number;
  readonly planSeconds?: number;
};

export function openMemoryStore(
  bucket: MemoryBucket,
  options: MemoryStoreOptions = {},
): ObjectStore {
  return new MemoryStore(bucket, options);
}

const partsMax = 10_000;
const digestOf = (content: Uint8Array): string =>
  createHash("sha256").update(content).digest("hex");

class MemoryStore implements ObjectStore {
  readonly address: string;
  readonly partBytes: number;
  readonly #bucket: MemoryBucket;
  readonly #prefix: string;
  readonly #planMs: number;

  constructor(bucket: MemoryBucket, { prefix, partBytes, planSeconds }: MemoryStoreOptions) {
    this.#bucket = bucket;
    this.#prefix = keyPrefix(prefix);
    this.#planMs = (planSeconds ?? 3_600) * 1_000;
    this.partBytes = partBytes ?? 64 * 1_024 ** 2;
    this.address = `memory://bucket/${this.#prefix}`.replace(/\/$/, "");
  }

  #at(key: string, doing: string): string {
    checkObjectKey(key, this.#prefix);
    this.#check(`${doing} ${key}`);
    return this.#prefix + key;
  }

  #check(doing: string): void {
    const { state } = this.#bucket;
    if (state === "away") throw away(this.address, doing, "nothing answers");
    if (state === "refusing") throw refused(this.address, doing, "the credentials have no right");
    if (state === "absent") throw bucketNotFound(this.address, "bucket");
  }

  async head(key: string): Promise<ObjectHead | null> {
    const kept = this.#bucket.objects.get(this.#at(key, "look at"));
    return kept === undefined ? null : { bytes: kept.content.length, checksum: kept.checksum };
  }

  async open(key: string): Promise<ObjectContent | null> {
    const kept = this.#bucket.objects.get(this.#at(key, "read"));
    if (kept === undefined) return null;
    async function* stream(content: Buffer): AsyncGenerator<Uint8Array> {
      yield content;
    }
    return { bytes: kept.content.length, stream: stream(kept.content) };
  }

  async put(
    key: string,
    content: Uint8Array,
    { ifAbsent = false }: { readonly ifAbsent?: boolean } = {},
  ): Promise<boolean> {
    const full = this.#at(key, "write");
    if (ifAbsent && this.#bucket.objects.has(full)) return false;
    this.#store(full, Buffer.from(content), wholeChecksum(content));
    return true;
  }

  #store(full: string, content: Buffer, checksum: ObjectChecksum): void {
    this.#bucket.objects.set(full, { content, checksum, writtenAtMs: this.#bucket.clock.nowMs() });
  }

  async *list(below: string): AsyncGenerator<ListedObject> {
    this.#check(`list ${below}`);
    const found = [...this.#bucket.objects]
      .filter(([key]) => key.startsWith(this.#prefix + below))
      .toSorted(([a], [b]) => Buffer.from(a).compare(Buffer.from(b)));
    for (const [key, { content, writtenAtMs }] of found) {
      yield { key: key.slice(this.#prefix.length), bytes: content.length, writtenAtMs };
    }
  }

  async delete(keys: readonly string[], listedBelow?: string): Promise<void> {
    checkDeletion(keys, this.#prefix, listedBelow);
    this.#check(`delete ${keys.length} objects`);
    for (const key of keys) this.#bucket.objects.delete(this.#prefix + key);
  }

  async copy(from: string, to: string): Promise<CopyResult> {
    const source = this.#bucket.objects.get(this.#at(from, "copy"));
    const target = this.#at(to, "write");
    if (source === undefined) return { kind: "absent" };
    this.#store(target, source.content, wholeChecksum(source.content));
    return { kind: "copied", head: null };
  }

  async planUpload(
    key: string,
    file: FileDigests,
    { claim = claimAll }: UploadOptions = {},
  ): Promise<UploadPlan> {
    checkFile(key, file, this.partBytes, partsMax);
    const kind = file.parts.length === 1 ? "single" : "multipart";
    const head = await this.head(key);
    if (head !== null && compareWithFile(head, file) === "same") {
      return { kind, missing: nothingMissing, parts: [] };
    }
    const full = this.#prefix + key;
    if (kind === "multipart" && !this.#bucket.uploads.has(full)) {
      this.#bucket.uploads.set(full, new Map());
    }
    const missing = this.#missing(full, file);
    const claimed = missing.slice(0, claim(missing.length));
    const isPart = this.#bucket.uploads.has(full);
    const parts = claimed.map(({ sha256, ...range }) => {
      return { ...range, request: this.#planPart(full, range.offset, sha256, isPart) };
    });
    return { kind, missing: missingOf(missing), parts };
  }

  #missing(full: string, file: FileDigests): readonly (PartRange & { readonly sha256: string })[] {
    const sent = this.#bucket.uploads.get(full);
    return partsOf(file.bytes, this.partBytes).flatMap(({ offset, bytes }, index) => {
      const { sha256 = "" } = file.parts[index] ?? {};
      const part = sent?.get(offset);
      if (part !== undefined && digestOf(part) === sha256) return [];
      return [{ offset, bytes, sha256 }];
    });
  }

  #planPart(full: string, offset: number, sha256: string, isPart: boolean): PlannedRequest {
    const expiresAtMs = this.#bucket.clock.nowMs() + this.#planMs;
    return this.#bucket.plan("PUT", expiresAtMs, (content) => {
      if (digestOf(content) !== sha256) return null;
      if (!isPart) this.#store(full, Buffer.from(content), wholeChecksum(content));
      const upload = this.#bucket.uploads.get(full);
      if (isPart && upload === undefined) return null;
      if (isPart) upload?.set(offset, Buffer.from(content));
      return Buffer.alloc(0);
    });
  }

  async finishUpload(key: string, file: FileDigests): Promise<ObjectHead> {
    checkFile(key, file, this.partBytes, partsMax);
    const full = this.#at(key, "complete");
    const there = await this.head(key);
    if (file.parts.length > 1 && there !== null && compareWithFile(there, file) === "same") {
      this.#bucket.uploads.delete(full);
      return there;
    }
    const upload = this.#bucket.uploads.get(full);
    if (file.parts.length > 1 && upload !== undefined) {
      const missing = this.#missing(full, file).length;
      if (missing > 0) throw uploadIncomplete(key, `${missing} parts are missing`);
      const ranges = partsOf(file.bytes, this.partBytes);
      const content = Buffer.concat(
        ranges.map(({ offset }) => upload.get(offset) ?? Buffer.alloc(0)),
      );
      const parts = ranges.length;
      this.#store(full, content, { kind: "sha256-parts", value: compositeSha256(file), parts });
      this.#bucket.uploads.delete(full);
    }
    const head = await this.head(key);
    if (head === null) throw uploadIncomplete(key, "nothing of it is there");
    if (compareWithFile(head, file) === "same") return head;
    throw uploadIncomplete(key, "the object that is there has other content");
  }

  async abortUploads(below: string): Promise<void> {
    this.#check(`give up uploads below ${below}`);
    for (const full of [...this.#bucket.uploads.keys()]) {
      if (full.startsWith(this.#prefix + below)) this.#bucket.uploads.delete(full);
    }
  }

  async planDownload(key: string): Promise<PlannedRequest> {
    const full = this.#at(key, "read");
    const expiresAtMs = this.#bucket.clock.nowMs() + this.#planMs;
    return this.#bucket.plan(
      "GET",
      expiresAtMs,
      () => this.#bucket.objects.get(full)?.content ?? null,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

function wholeChecksum(content: Uint8Array): ObjectChecksum {
  return { kind: "sha256", value: base64OfHex(digestOf(content)) };
}
