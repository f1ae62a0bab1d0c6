/** The state of a store: buckets, their objects, and unfinished uploads. */
import type { Piece } from "../http/bodies.ts";
import { type Checksum, type ChecksumName, headerOf } from "./checksums.ts";
import { S3Error } from "./errors.ts";

/** Headers that are stored with an object and returned with it: its type, encryption and metadata. */
export type StoredHeaders = Readonly<Record<string, string>>;

export type S3Object = {
  readonly key: string;
  readonly pieces: readonly Piece[];
  readonly bytes: number;
  /** The ETag with its quotes. */
  readonly etag: string;
  readonly checksum: Checksum | null;
  readonly headers: StoredHeaders;
  readonly modifiedMs: number;
};

export type S3Part = {
  readonly number: number;
  readonly pieces: readonly Piece[];
  readonly bytes: number;
  readonly etag: string;
  readonly checksum: { readonly name: ChecksumName; readonly value: string } | null;
  readonly modifiedMs: number;
};

export type S3Upload = {
  readonly id: string;
  readonly key: string;
  readonly initiatedMs: number;
  readonly checksum: { readonly name: ChecksumName; readonly type: Checksum["type"] } | null;
  readonly headers: StoredHeaders;
  readonly parts: Map<number, S3Part>;
};

export class S3Bucket {
  readonly name: string;
  readonly objects = new Map<string, S3Object>();
  readonly uploads = new Map<string, S3Upload>();

  constructor(name: string) {
    this.name = name;
  }

  upload(key: string, id: string | undefined): S3Upload {
    const upload = this.uploads.get(id ?? "");
    if (upload !== undefined && upload.key === key) return upload;
    throw new S3Error(404, "NoSuchUpload", "The specified multipart upload does not exist.");
  }

  object(key: string): S3Object {
    const object = this.objects.get(key);
    if (object !== undefined) return object;
    throw new S3Error(404, "NoSuchKey", "The specified key does not exist.");
  }
}

const kept =
  /^(content-(type|encoding|disposition|language)|cache-control|x-amz-meta-.*|x-amz-server-side-encryption(-aws-kms-key-id)?)$/;

export function storedHeaders(headers: Readonly<Record<string, string>>): StoredHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => kept.test(name)));
}

/** Returns the encryption headers for all answers about an encrypted object. */
export function encryptionHeaders(headers: StoredHeaders): StoredHeaders {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.startsWith("x-amz-server-side-encryption")),
  );
}

export function checksumHeaders(checksum: Checksum | null): StoredHeaders {
  if (checksum === null) return {};
  return { [headerOf(checksum.name)]: checksum.value, "x-amz-checksum-type": checksum.type };
}

/** Returns keys in the order of S3's listings: by their UTF-8 bytes. */
export function keysInOrder(keys: Iterable<string>, prefix: string): readonly string[] {
  return [...keys]
    .filter((key) => key.startsWith(prefix))
    .map((key) => ({ key, bytes: Buffer.from(key) }))
    .toSorted((a, b) => a.bytes.compare(b.bytes))
    .map(({ key }) => key);
}
