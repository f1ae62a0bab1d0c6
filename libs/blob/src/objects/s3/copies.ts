/** Copies inside S3: one request up to S3's limit, and above it a multipart upload of copied ranges. */
import { CopyObjectCommand, type Part, UploadPartCopyCommand } from "@aws-sdk/client-s3";
import { mapConcurrently } from "@trainyard/kernel";
import { type PartRange, partsOf } from "../files.ts";
import type { S3Connection } from "./connection.ts";
import type { CopyResult } from "../port.ts";
import { checksumOf } from "./checksum-of.ts";
import { isUnsupported, saysAbsent } from "./errors.ts";
import type { S3Uploads } from "./uploads.ts";

/** The number of ranges that are copied concurrently; only the store works on them. */
const atOnce = 8;

export class S3Copies {
  readonly #connection: S3Connection;
  readonly #uploads: S3Uploads;

  constructor(connection: S3Connection, uploads: S3Uploads) {
    this.#connection = connection;
    this.#uploads = uploads;
  }

  async copy(from: string, to: string, bytes: number): Promise<CopyResult> {
    const whole = bytes <= this.#connection.settings.copyBytesMax;
    return this.#connection.attempt<CopyResult>(
      `copy ${from} to ${to}`,
      "s3:GetObject, s3:PutObject",
      () => (whole ? this.#copyWhole(from, to, bytes) : this.#copyParts(from, to, bytes)),
      (error) => {
        if (saysAbsent(error)) return { kind: "absent" };
        return isUnsupported(error) ? { kind: "unsupported" } : undefined;
      },
    );
  }

  #source(key: string): string {
    const { Bucket, Key } = this.#connection.at(key);
    return `${Bucket}/${Key.split("/").map(encodeURIComponent).join("/")}`;
  }

  async #copyWhole(from: string, to: string, bytes: number): Promise<CopyResult> {
    const { CopyObjectResult: result = {} } = await this.#connection.patient.send(
      new CopyObjectCommand({
        ...this.#connection.at(to),
        ...this.#connection.encryption,
        CopySource: this.#source(from),
        ChecksumAlgorithm: "SHA256",
      }),
    );
    const checksum = checksumOf(result);
    return { kind: "copied", head: checksum === null ? null : { bytes, checksum } };
  }

  /** Copies in parts of an upload's size, so that the copy has the same checksum as an upload. */
  async #copyParts(from: string, to: string, bytes: number): Promise<CopyResult> {
    const id = await this.#uploads.begin(to);
    const ranges = partsOf(bytes, this.#connection.settings.partBytes);
    const copied = await mapConcurrently(ranges, atOnce, (range, index) =>
      this.#copyPart(from, to, id, index + 1, range),
    );
    await this.#uploads.complete(to, id, copied);
    return { kind: "copied", head: null };
  }

  async #copyPart(
    from: string,
    to: string,
    id: string,
    number: number,
    { offset, bytes }: PartRange,
  ): Promise<Part> {
    const { CopyPartResult: result } = await this.#connection.patient.send(
      new UploadPartCopyCommand({
        ...this.#connection.at(to),
        UploadId: id,
        PartNumber: number,
        CopySource: this.#source(from),
        CopySourceRange: `bytes=${offset}-${offset + bytes - 1}`,
      }),
    );
    return { PartNumber: number, ETag: result?.ETag, ChecksumSHA256: result?.ChecksumSHA256 };
  }
}
