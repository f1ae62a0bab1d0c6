/**
 * Uploads to S3 by clients without credentials: a single PUT, or the parts of a multipart upload. Each part's SHA-256
 * is a signed header, so the store accepts only the announced bytes.
 *
 * This module keeps no state: S3 lists the unfinished uploads of a key and their parts. If several planners began an
 * upload of one key, all use the oldest; the others are aborted when the object exists.
 */
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  type ListPartsCommandOutput,
  type MultipartUpload,
  type Part,
  PutObjectCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { endsEarly, uploadIncomplete } from "../faults.ts";
import { base64OfHex, missingOf, type PartRange, partsOf } from "../files.ts";
import type { Claim, FileDigests, PlannedPart, PlannedRequest, UploadPlan } from "../port.ts";
import type { S3Connection } from "./connection.ts";
import { saysAbsent } from "./errors.ts";

type Upload = { readonly id: string; readonly key: string; readonly initiatedMs: number };

export class S3Uploads {
  readonly #connection: S3Connection;

  constructor(connection: S3Connection) {
    this.#connection = connection;
  }

  async planSingle(key: string, file: FileDigests): Promise<PlannedPart> {
    const { encryption } = this.#connection;
    const { ServerSideEncryption: kind, SSEKMSKeyId: keyId } = encryption;
    const checksum = base64OfHex(file.sha256);
    const request = await this.#sign(
      new PutObjectCommand({
        ...this.#connection.at(key),
        ...encryption,
        ContentLength: file.bytes,
        ChecksumSHA256: checksum,
      }),
      {
        "content-length": String(file.bytes),
        "x-amz-checksum-sha256": checksum,
        ...(kind === undefined ? {} : { "x-amz-server-side-encryption": kind }),
        ...(keyId === undefined ? {} : { "x-amz-server-side-encryption-aws-kms-key-id": keyId }),
      },
    );
    return { offset: 0, bytes: file.bytes, request };
  }

  /** Plans the parts that the store lacks; begins an upload if none is open. */
  async planParts(
    key: string,
    file: FileDigests,
    claim: Claim,
  ): Promise<Pick<UploadPlan, "missing" | "parts">> {
    let upload = (await this.#of(key))[0];
    if (upload === undefined) {
      await this.begin(key);
      upload = (await this.#of(key))[0];
    }
    if (upload === undefined) throw uploadIncomplete(key, "it was given up at the same time");
    const { id } = upload;
    const missing = this.#missing(file, await this.#parts(key, id));
    const parts: PlannedPart[] = [];
    for (const part of missing.slice(0, claim(missing.length))) {
      parts.push(await this.#planPart(key, id, file, part));
    }
    return { missing: missingOf(missing), parts };
  }

  /** Begins an upload and returns its id. */
  async begin(key: string): Promise<string> {
    const { client, encryption } = this.#connection;
    const command = new CreateMultipartUploadCommand({
      ...this.#connection.at(key),
      ...encryption,
      ChecksumAlgorithm: "SHA256",
    });
    const { UploadId: id } = await this.#connection.attempt(
      `begin an upload of ${key}`,
      "s3:PutObject",
      () => client.send(command),
    );
    return id ?? "";
  }

  /** Returns false if the key has no open upload. */
  async finish(key: string, file: FileDigests): Promise<boolean> {
    const [upload] = await this.#of(key);
    if (upload === undefined) return false;
    const parts = await this.#parts(key, upload.id);
    const missing = this.#missing(file, parts);
    if (missing.length > 0) {
      const [first] = missing;
      const where = `the first begins at byte ${first?.offset ?? 0}`;
      throw uploadIncomplete(
        key,
        `${missing.length} of ${file.parts.length} parts are missing; ${where}`,
      );
    }
    await this.complete(key, upload.id, parts.slice(0, file.parts.length));
    return true;
  }

  /** An upload that another request has completed meanwhile counts as completed. */
  async complete(key: string, id: string, parts: readonly Part[]): Promise<void> {
    const command = new CompleteMultipartUploadCommand({
      ...this.#connection.at(key),
      UploadId: id,
      MultipartUpload: {
        Parts: parts.map(({ PartNumber, ETag, ChecksumSHA256 }) => ({
          PartNumber,
          ETag,
          ChecksumSHA256,
        })),
      },
    });
    await this.#connection.attempt(
      `complete the upload of ${key}`,
      "s3:PutObject",
      async (): Promise<true> => {
        await this.#connection.patient.send(command);
        return true;
      },
      (error) => (saysAbsent(error) ? true : undefined),
    );
  }

  /** Aborts every upload whose full key has this prefix. */
  async abortAll(fullPrefix: string): Promise<void> {
    for (const { key, id } of await this.#list(fullPrefix)) await this.#abort(key, id);
  }

  async abortAllOf(key: string): Promise<void> {
    for (const { key: full, id } of await this.#of(key)) await this.#abort(full, id);
  }

  async #abort(fullKey: string, id: string): Promise<void> {
    const { client, settings } = this.#connection;
    const command = new AbortMultipartUploadCommand({
      Bucket: settings.bucket,
      Key: fullKey,
      UploadId: id,
    });
    await this.#connection.attempt(
      `give up an upload of ${fullKey}`,
      "s3:AbortMultipartUpload",
      async (): Promise<true> => {
        await client.send(command);
        return true;
      },
      (error) => (saysAbsent(error) ? true : undefined),
    );
  }

  /** Returns the open uploads of one key, the oldest first. */
  async #of(key: string): Promise<readonly Upload[]> {
    const { Key: full } = this.#connection.at(key);
    const uploads = (await this.#list(full)).filter((upload) => upload.key === full);
    return uploads.toSorted((a, b) => a.initiatedMs - b.initiatedMs || (a.id < b.id ? -1 : 1));
  }

  async #list(fullPrefix: string): Promise<readonly Upload[]> {
    const { address, client, settings } = this.#connection;
    const found: Upload[] = [];
    let markers: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } = {};
    for (;;) {
      const command = new ListMultipartUploadsCommand({
        Bucket: settings.bucket,
        Prefix: fullPrefix,
        ...markers,
      });
      const page = await this.#connection.attempt(
        `list the uploads below ${fullPrefix}`,
        "s3:ListBucketMultipartUploads",
        () => client.send(command),
      );
      found.push(...(page.Uploads ?? []).map(uploadOf));
      if (page.IsTruncated !== true) return found;
      if (!page.NextKeyMarker) throw endsEarly(address, `list the uploads below ${fullPrefix}`);
      markers = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
    }
  }

  /**
   * Lists the parts page by page. The SDK's paginator would not end: it continues while S3 returns a marker, and S3
   * returns one after the last page too.
   */
  async #parts(key: string, id: string): Promise<readonly Part[]> {
    const { address, client } = this.#connection;
    const parts: Part[] = [];
    let marker: string | undefined;
    for (;;) {
      const command = new ListPartsCommand({
        ...this.#connection.at(key),
        UploadId: id,
        ...(marker === undefined ? {} : { PartNumberMarker: marker }),
      });
      const page = await this.#connection.attempt<ListPartsCommandOutput | null>(
        `list the parts of ${key}`,
        "s3:ListMultipartUploadParts",
        () => client.send(command),
        // The upload was completed or aborted between the two listings.
        (error) => (saysAbsent(error) ? null : undefined),
      );
      parts.push(...(page?.Parts ?? []));
      if (page?.IsTruncated !== true) return parts;
      if (!page.NextPartNumberMarker) throw endsEarly(address, `list the parts of ${key}`);
      marker = page.NextPartNumberMarker;
    }
  }

  /** A part is stored if its size and checksum are right; if the store keeps no checksum, the size alone decides. */
  #missing(file: FileDigests, parts: readonly Part[]): readonly (PartRange & { number: number })[] {
    const known = new Map(parts.map((part) => [part.PartNumber, part]));
    return partsOf(file.bytes, this.#connection.settings.partBytes)
      .map((range, index) => ({ ...range, number: index + 1 }))
      .filter(({ number, bytes }) => {
        const part = known.get(number);
        if (part === undefined || part.Size !== bytes) return true;
        const expected = base64OfHex(file.parts[number - 1]?.sha256 ?? "");
        return part.ChecksumSHA256 !== undefined && part.ChecksumSHA256 !== expected;
      });
  }

  async #planPart(
    key: string,
    id: string,
    file: FileDigests,
    { offset, bytes, number }: PartRange & { number: number },
  ): Promise<PlannedPart> {
    const checksum = base64OfHex(file.parts[number - 1]?.sha256 ?? "");
    const request = await this.#sign(
      new UploadPartCommand({
        ...this.#connection.at(key),
        UploadId: id,
        PartNumber: number,
        ContentLength: bytes,
        ChecksumSHA256: checksum,
      }),
      { "content-length": String(bytes), "x-amz-checksum-sha256": checksum },
    );
    return { offset, bytes, request };
  }

  async #sign(
    command: PutObjectCommand | UploadPartCommand,
    headers: Readonly<Record<string, string>>,
  ): Promise<PlannedRequest> {
    const { client } = this.#connection;
    const signed = await this.#connection.signedUrl(
      (options) =>
        command instanceof PutObjectCommand
          ? getSignedUrl(client, command, options)
          : getSignedUrl(client, command, options),
      headers,
    );
    return { method: "PUT", headers, accepted: [200], ...signed };
  }
}

function uploadOf({ Key, UploadId, Initiated }: MultipartUpload): Upload {
  return { key: Key ?? "", id: UploadId ?? "", initiatedMs: Initiated?.getTime() ?? 0 };
}
