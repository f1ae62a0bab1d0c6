/** The adapter of `ObjectStore` for Google Cloud Storage. */
import { isFault, mapConcurrently } from "@trainyard/kernel";
import { away, uploadIncomplete } from "../faults.ts";
import {
  checkFile,
  claimAll,
  compareWithFile,
  missingOf,
  nothingMissing,
  wrongDigests,
} from "../files.ts";
import { checkDeletion } from "../keys.ts";
import type {
  CopyResult,
  FileDigests,
  ListedObject,
  ObjectChecksum,
  ObjectContent,
  ObjectHead,
  ObjectStore,
  PlannedPart,
  PlannedRequest,
  UploadOptions,
  UploadPlan,
} from "../port.ts";
import { type GcsRequest, GcsConnection } from "./connection.ts";
import { faultOfNetwork } from "./errors.ts";
import { type GcsStoreOptions, partsMax, settingsOf } from "./options.ts";
import { GcsSessions, sessionsBelow } from "./sessions.ts";

/** Concurrent deletions: the API deletes one object per request. */
const deletedAtOnce = 16;

export function openGcsStore(options: GcsStoreOptions): ObjectStore {
  return new GcsStore(new GcsConnection(settingsOf(options)));
}

type Resource = {
  readonly name: string;
  readonly size?: string;
  readonly updated?: string;
  readonly md5Hash?: string;
  readonly crc32c?: string;
};

class GcsStore implements ObjectStore {
  readonly address: string;
  readonly partBytes: number;
  readonly #connection: GcsConnection;
  readonly #sessions: GcsSessions;

  constructor(connection: GcsConnection) {
    this.#connection = connection;
    this.#sessions = new GcsSessions(connection);
    this.address = connection.address;
    this.partBytes = connection.settings.partBytes;
  }

  async head(key: string): Promise<ObjectHead | null> {
    const name = this.#connection.nameOf(key);
    const right = "storage.objects.get; of an absent object also storage.objects.list";
    const reply = await this.#connection.ask(`look at ${key}`, right, {
      method: "GET",
      url: this.#connection.urlOf(name, { fields: "name,size,md5Hash,crc32c" }),
      expected: [404],
    });
    if (reply.status !== 404) return headOf(JSON.parse(reply.text) as Resource);
    await this.#checkBucket();
    return null;
  }

  /** Google Cloud Storage answers 404 for an absent object and for an absent bucket alike. */
  async #checkBucket(): Promise<void> {
    const url = this.#connection.urlOf(null, { maxResults: "1", fields: "kind" });
    const doing = `look at the bucket ${this.#connection.settings.bucket}`;
    await this.#connection.ask(doing, "storage.objects.list", { method: "GET", url });
  }

  async open(key: string): Promise<ObjectContent | null> {
    const doing = `read ${key}`;
    const right = "storage.objects.get; of an absent object also storage.objects.list";
    const url = this.#connection.urlOf(this.#connection.nameOf(key), { alt: "media" });
    const silence = new Silence(this.#connection.settings.silenceMs);
    const asked: GcsRequest = { method: "GET", url, expected: [404] };
    try {
      const response = await this.#connection.begin(doing, right, asked, silence.signal);
      if (response !== null) {
        const bytes = Number(response.headers.get("content-length") ?? 0);
        return { bytes, stream: this.#whole(response.body, bytes, silence, doing) };
      }
    } catch (error) {
      silence.end();
      throw error;
    }
    silence.end();
    await this.#checkBucket();
    return null;
  }

  async *#whole(
    body: AsyncIterable<Uint8Array> | null,
    bytes: number,
    silence: Silence,
    doing: string,
  ): AsyncGenerator<Uint8Array> {
    let seen = 0;
    try {
      for await (const chunk of body ?? []) {
        seen += chunk.length;
        silence.end();
        yield chunk;
        silence.begin();
      }
    } catch (error) {
      throw isFault(error) ? error : faultOfNetwork(error, this.#connection.failing(doing, ""));
    } finally {
      silence.end();
    }
    if (seen === bytes) return;
    throw away(this.address, doing, `it broke off after ${seen} of ${bytes} bytes`);
  }

  async put(
    key: string,
    content: Uint8Array,
    { ifAbsent = false }: { readonly ifAbsent?: boolean } = {},
  ): Promise<boolean> {
    const name = this.#connection.nameOf(key);
    const condition = ifAbsent ? { ifGenerationMatch: "0" } : {};
    const right = ifAbsent
      ? "storage.objects.create"
      : "storage.objects.create; to replace an object also storage.objects.delete";
    const reply = await this.#connection.ask(`write ${key}`, right, {
      method: "POST",
      url: this.#connection.uploadUrl({ uploadType: "media", name, ...condition }),
      headers: { "content-type": "application/octet-stream" },
      body: content,
      expected: [412],
    });
    return reply.status !== 412;
  }

  async *list(below: string): AsyncGenerator<ListedObject> {
    const { prefix } = this.#connection;
    for await (const { name, size, updated } of this.#names(below)) {
      const key = name.slice(prefix.length);
      if (key.startsWith(sessionsBelow)) continue;
      yield { key, bytes: Number(size ?? 0), writtenAtMs: Date.parse(updated ?? "") };
    }
  }

  async *#names(below: string): AsyncGenerator<Resource> {
    const prefix = this.#connection.prefix + below;
    let pageToken: string | undefined;
    do {
      const reply = await this.#connection.ask(`list ${below}`, "storage.objects.list", {
        method: "GET",
        url: this.#connection.urlOf(null, {
          prefix,
          fields: "items(name,size,updated),nextPageToken",
          ...(pageToken === undefined ? {} : { pageToken }),
        }),
      });
      const page = JSON.parse(reply.text) as {
        items?: readonly Resource[];
        nextPageToken?: string;
      };
      yield* page.items ?? [];
      pageToken = page.nextPageToken;
    } while (pageToken !== undefined);
  }

  async delete(keys: readonly string[], listedBelow?: string): Promise<void> {
    const { prefix } = this.#connection;
    checkDeletion(keys, prefix, listedBelow);
    let absent = 0;
    await mapConcurrently(keys, deletedAtOnce, async (key) => {
      const reply = await this.#connection.ask(`delete ${key}`, "storage.objects.delete", {
        method: "DELETE",
        url: this.#connection.urlOf(prefix + key),
        expected: [404],
      });
      if (reply.status === 404) absent += 1;
    });
    if (absent > 0) await this.#checkBucket();
  }

  async copy(from: string, to: string): Promise<CopyResult> {
    const { bucket, workMs, silenceMs } = this.#connection.settings;
    const [source, target] = [this.#connection.nameOf(from), this.#connection.nameOf(to)];
    const into = `/rewriteTo/b/${encodeURIComponent(bucket)}/o/${encodeURIComponent(target)}`;
    let rewriteToken: string | undefined;
    let resource: Resource | undefined;
    do {
      const right = "storage.objects.get, storage.objects.create";
      const query = new URLSearchParams({
        ...this.#connection.kmsKeyAs("destinationKmsKeyName"),
        ...(rewriteToken === undefined ? {} : { rewriteToken }),
      }).toString();
      const reply = await this.#connection.ask(`copy ${from} to ${to}`, right, {
        method: "POST",
        url: `${this.#connection.urlOf(source)}${into}?${query}`,
        headers: { "content-type": "application/json" },
        body: "{}",
        silenceMs: Math.max(workMs, silenceMs),
        expected: [404],
      });
      if (reply.status === 404) {
        await this.#checkBucket();
        return { kind: "absent" };
      }
      ({ rewriteToken, resource } = JSON.parse(reply.text) as {
        rewriteToken?: string;
        resource?: Resource;
      });
    } while (rewriteToken !== undefined);
    return { kind: "copied", head: resource === undefined ? null : headOf(resource) };
  }

  async planUpload(
    key: string,
    file: FileDigests,
    { absent = false, there, claim = claimAll }: UploadOptions = {},
  ): Promise<UploadPlan> {
    this.#check(key, file);
    if (file.md5 === "") throw wrongDigests(key, "no MD5, which binds what may be stored");
    const kind = file.parts.length === 1 ? "single" : "resumable";
    const head = there ?? (absent ? null : await this.head(key));
    if (head !== null && compareWithFile(head, file) === "same") {
      return { kind, missing: nothingMissing, parts: [] };
    }
    if (kind === "resumable") {
      const left = await this.#sessions.plan(key, file);
      return { kind, missing: missingOf(left), parts: left.slice(0, claim(left.length)) };
    }
    const parts = claim(1) < 1 ? [] : [await this.#planSingle(key, file)];
    return { kind, missing: { parts: 1, bytes: file.bytes }, parts };
  }

  /** The signature covers the size and the MD5, so the store accepts only this content. */
  async #planSingle(key: string, { bytes, md5 }: FileDigests): Promise<PlannedPart> {
    const headers = {
      "x-goog-content-length-range": `${bytes},${bytes}`,
      "content-md5": md5,
      ...this.#connection.kmsKeyAs("x-goog-encryption-kms-key-name"),
    };
    const request = await this.#connection.plan("PUT", key, headers);
    const length = { "content-length": String(bytes) };
    return { offset: 0, bytes, request: { ...request, headers: { ...headers, ...length } } };
  }

  async finishUpload(key: string, file: FileDigests): Promise<ObjectHead> {
    this.#check(key, file);
    const head = await this.head(key);
    if (head === null) throw uploadIncomplete(key, "not all of it was sent");
    if (compareWithFile(head, file) === "differs") {
      throw uploadIncomplete(key, "the object that is there has other content");
    }
    if (file.parts.length > 1) await this.#sessions.forget(key);
    return head;
  }

  #check(key: string, file: FileDigests): void {
    checkFile(key, file, this.partBytes, partsMax);
  }

  async abortUploads(below: string): Promise<void> {
    const { prefix } = this.#connection;
    for await (const { name } of this.#names(sessionsBelow + below)) {
      await this.#sessions.forget(name.slice(prefix.length + sessionsBelow.length));
    }
  }

  async planDownload(key: string): Promise<PlannedRequest> {
    return this.#connection.plan("GET", key, {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connection.destroy();
  }
}

/** An object that was composed from others has no MD5. */
function headOf({ size, md5Hash: md5, crc32c }: Resource): ObjectHead {
  const checksum: ObjectChecksum | null =
    md5 !== undefined
      ? { kind: "md5", value: md5 }
      : crc32c !== undefined
        ? { kind: "crc32c", value: crc32c }
        : null;
  return { bytes: Number(size ?? 0), checksum };
}

/** Aborts a request when no data arrives in time; the time does not run while the reader is busy. */
class Silence {
  readonly #controller = new AbortController();
  readonly #ms: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.#ms = ms;
    this.begin();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  begin(): void {
    this.end();
    this.#timer = setTimeout(() => this.#controller.abort(), this.#ms);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
