/** The adapter of `ObjectStore` for S3 and stores with its protocol, on the AWS SDK. */
import type { IncomingMessage } from "node:http";
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadBucketCommand,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  ListObjectsV2Command,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { away, bucketNotFound, endsEarly, refused, uploadIncomplete } from "../faults.ts";
import { checkFile, claimAll, compareWithFile, nothingMissing } from "../files.ts";
import { checkDeletion, checkObjectKey, hasDotName } from "../keys.ts";
import type {
  CopyResult,
  FileDigests,
  ListedObject,
  ObjectContent,
  ObjectHead,
  ObjectStore,
  PlannedRequest,
  UploadOptions,
  UploadPlan,
} from "../port.ts";
import { S3Connection } from "./connection.ts";
import { checksumOf } from "./checksum-of.ts";
import { S3Copies } from "./copies.ts";
import { codeOf, saysAbsent } from "./errors.ts";
import { partsMax, type S3StoreOptions, settingsOf } from "./options.ts";
import { S3Uploads } from "./uploads.ts";

/** The maximum number of keys in one deletion request. */
const deletedMax = 1_000;
/** Characters that XML cannot contain: a key with one of them is deleted by a separate request. */
const unwritable = /[\x01-\x1f\ufffe\uffff]/;

export function openS3Store(options: S3StoreOptions): ObjectStore {
  return new S3Store(new S3Connection(settingsOf(options)));
}

class S3Store implements ObjectStore {
  readonly address: string;
  readonly partBytes: number;
  readonly #connection: S3Connection;
  readonly #uploads: S3Uploads;
  readonly #copies: S3Copies;

  constructor(connection: S3Connection) {
    this.#connection = connection;
    this.#uploads = new S3Uploads(connection);
    this.#copies = new S3Copies(connection, this.#uploads);
    this.address = connection.address;
    this.partBytes = connection.settings.partBytes;
  }

  async head(key: string): Promise<ObjectHead | null> {
    const command = new HeadObjectCommand({ ...this.#connection.at(key), ChecksumMode: "ENABLED" });
    const answer = await this.#connection.attempt<HeadObjectCommandOutput | null>(
      `look at ${key}`,
      "s3:GetObject; of an absent object also s3:ListBucket",
      () => this.#connection.client.send(command),
      (error) => (saysAbsent(error) ? null : undefined),
    );
    if (answer !== null) return { bytes: answer.ContentLength ?? 0, checksum: checksumOf(answer) };
    await this.#checkBucket();
    return null;
  }

  /** S3 answers a HEAD for an absent object and an absent bucket alike. */
  async #checkBucket(): Promise<void> {
    const { bucket } = this.#connection.settings;
    const command = new HeadBucketCommand({ Bucket: bucket });
    const isThere = await this.#connection.attempt(
      `look at the bucket ${bucket}`,
      "s3:ListBucket",
      async () => {
        await this.#connection.client.send(command);
        return true;
      },
      (error) => (saysAbsent(error) ? false : undefined),
    );
    if (!isThere) throw bucketNotFound(this.address, bucket);
  }

  async open(key: string): Promise<ObjectContent | null> {
    const command = new GetObjectCommand(this.#connection.at(key));
    const doing = `read ${key}`;
    const right = "s3:GetObject; of an absent object also s3:ListBucket";
    const answer = await this.#connection.attempt<GetObjectCommandOutput | null>(
      doing,
      right,
      () => this.#connection.client.send(command),
      (error) => (codeOf(error) === "NoSuchKey" ? null : undefined),
    );
    if (answer === null) return null;
    const bytes = answer.ContentLength ?? 0;
    const body = answer.Body as IncomingMessage;
    return { bytes, stream: this.#whole(body, bytes, doing, right) };
  }

  /** The time in which the store may be silent does not run while the reader is busy. */
  async *#whole(
    body: IncomingMessage,
    bytes: number,
    doing: string,
    right: string,
  ): AsyncGenerator<Uint8Array> {
    const { silenceMs } = this.#connection.settings;
    let seen = 0;
    try {
      for await (const chunk of body as AsyncIterable<Uint8Array>) {
        seen += chunk.length;
        body.socket?.setTimeout(0);
        yield chunk;
        body.socket?.setTimeout(silenceMs);
      }
    } catch (error) {
      throw this.#connection.fault(error, doing, right);
    }
    if (seen !== bytes)
      throw away(this.address, doing, `it broke off after ${seen} of ${bytes} bytes`);
  }

  async put(
    key: string,
    content: Uint8Array,
    { ifAbsent = false }: { readonly ifAbsent?: boolean } = {},
  ): Promise<boolean> {
    const command = new PutObjectCommand({
      ...this.#connection.at(key),
      ...this.#connection.encryption,
      Body: content,
      ContentLength: content.length,
      ChecksumAlgorithm: "SHA256",
      ...(ifAbsent ? { IfNoneMatch: "*" } : {}),
    });
    return this.#connection.attempt(
      `write ${key}`,
      "s3:PutObject",
      async () => {
        await this.#connection.client.send(command);
        return true;
      },
      (error) => (codeOf(error) === "PreconditionFailed" ? false : undefined),
    );
  }

  async *list(below: string): AsyncGenerator<ListedObject> {
    const { client, settings, prefix } = this.#connection;
    let token: string | undefined;
    do {
      const command = new ListObjectsV2Command({
        Bucket: settings.bucket,
        Prefix: prefix + below,
        EncodingType: "url",
        ...(token === undefined ? {} : { ContinuationToken: token }),
      });
      const page = await this.#connection.attempt(`list ${below}`, "s3:ListBucket", () =>
        client.send(command),
      );
      for (const { Key = "", Size = 0, LastModified } of page.Contents ?? []) {
        const key =
          page.EncodingType === "url" ? decodeURIComponent(Key.replaceAll("+", " ")) : Key;
        yield {
          key: key.slice(prefix.length),
          bytes: Size,
          writtenAtMs: LastModified?.getTime() ?? 0,
        };
      }
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
      if (page.IsTruncated === true && !token) {
        throw endsEarly(this.address, `list ${below}`);
      }
    } while (token !== undefined);
  }

  async delete(keys: readonly string[], listedBelow?: string): Promise<void> {
    const { settings, prefix } = this.#connection;
    checkDeletion(keys, prefix, listedBelow);
    const alone = keys.filter((key) => unwritable.test(key));
    const together = keys.filter((key) => !unwritable.test(key));
    for (let at = 0; at < together.length; at += deletedMax) {
      await this.#deletePage(together.slice(at, at + deletedMax));
    }
    for (const key of alone) {
      // The key is the path of this request, so a name `..` could lead to an object outside of the folder.
      if (hasDotName(key)) checkObjectKey(key, prefix);
      const command = new DeleteObjectCommand({ Bucket: settings.bucket, Key: prefix + key });
      await this.#connection.attempt(`delete ${key}`, "s3:DeleteObject", () =>
        this.#connection.client.send(command),
      );
    }
  }

  async #deletePage(keys: readonly string[]): Promise<void> {
    const { client, settings, prefix } = this.#connection;
    const command = new DeleteObjectsCommand({
      Bucket: settings.bucket,
      Delete: { Objects: keys.map((key) => ({ Key: prefix + key })), Quiet: true },
    });
    const { Errors = [] } = await this.#connection.attempt(
      keys.length === 1 ? `delete ${keys[0]}` : `delete ${keys.length} objects`,
      "s3:DeleteObject",
      () => client.send(command),
    );
    const failed = Errors.filter(({ Code }) => Code !== "NoSuchKey");
    const [first] = failed;
    if (first === undefined) return;
    const doing = `delete ${failed.length} of ${keys.length} objects, first ${first.Key ?? ""}`;
    if (failed.some(({ Code }) => Code === "AccessDenied")) {
      throw refused(
        this.address,
        doing,
        "the credentials have no right to do so (s3:DeleteObject)",
      );
    }
    throw away(this.address, doing, `${first.Code ?? ""} ${first.Message ?? ""}`);
  }

  async copy(from: string, to: string, bytes?: number): Promise<CopyResult> {
    this.#connection.at(to);
    const known = bytes ?? (await this.head(from))?.bytes;
    return known === undefined ? { kind: "absent" } : this.#copies.copy(from, to, known);
  }

  async planUpload(
    key: string,
    file: FileDigests,
    { absent = false, there, claim = claimAll }: UploadOptions = {},
  ): Promise<UploadPlan> {
    this.#check(key, file);
    const kind = file.parts.length === 1 ? "single" : "multipart";
    const head = there ?? (absent ? null : await this.head(key));
    if (head !== null && compareWithFile(head, file) === "same") {
      return { kind, missing: nothingMissing, parts: [] };
    }
    if (kind === "multipart") {
      return { kind, ...(await this.#uploads.planParts(key, file, claim)) };
    }
    const parts = claim(1) < 1 ? [] : [await this.#uploads.planSingle(key, file)];
    return { kind, missing: { parts: 1, bytes: file.bytes }, parts };
  }

  async finishUpload(key: string, file: FileDigests): Promise<ObjectHead> {
    this.#check(key, file);
    if (file.parts.length > 1) {
      const there = await this.head(key);
      // An upload is never completed if a copy has created the object meanwhile.
      if (there !== null && compareWithFile(there, file) === "same") {
        await this.#uploads.abortAllOf(key);
        return there;
      }
    }
    const completed = file.parts.length > 1 && (await this.#uploads.finish(key, file));
    const head = await this.head(key);
    if (head === null) throw uploadIncomplete(key, "nothing of it is there");
    if (compareWithFile(head, file) === "differs") {
      throw uploadIncomplete(key, "the object that is there has other content");
    }
    if (completed) await this.#uploads.abortAllOf(key);
    return head;
  }

  #check(key: string, file: FileDigests): void {
    checkFile(key, file, this.partBytes, partsMax);
  }

  async abortUploads(below: string): Promise<void> {
    await this.#uploads.abortAll(this.#connection.prefix + below);
  }

  async planDownload(key: string): Promise<PlannedRequest> {
    const command = new GetObjectCommand(this.#connection.at(key));
    const { client } = this.#connection;
    const signed = await this.#connection.signedUrl(
      (options) => getSignedUrl(client, command, options),
      {},
    );
    return { method: "GET", headers: {}, accepted: [200], ...signed };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connection.destroy();
  }
}
