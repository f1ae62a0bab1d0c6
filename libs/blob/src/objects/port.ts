/**
 * A bucket of S3, Google Cloud Storage or a store with the same protocol, below a prefix. Keys are relative to the
 * prefix.
 *
 * - A write is acknowledged when the store has the whole object; a reader never sees a partial object.
 * - `head`, `open` and `copy` return null or "absent" only where the store says that the object does not exist. A
 *   refusal (403) is a Fault `storage_refused` and never counts as absence. A store that is unavailable, throttles or
 *   fails is a Fault `storage_away` with retry "later", after several retries of the adapter. A bucket that does not
 *   exist is a Fault `bucket_not_found`. Without credentials every call throws a Fault `credentials_missing`.
 * - An invalid key (see `checkObjectKey`) is a Fault `invalid_key`; a file beyond the store's limits is a Fault
 *   `file_too_large`.
 * - Files have digests of parts: each part has `partBytes`, except the last, which may be smaller. Files are sent in
 *   these parts, except by a "resumable" plan.
 * - Content passes through as a stream; an adapter never keeps a whole file in memory.
 */
export type ObjectHead = {
  readonly bytes: number;
  /** The checksum that the store verified and keeps; null if it keeps none. */
  readonly checksum: ObjectChecksum | null;
};

/**
 * Checksums in base64, as the stores return them. `sha256-parts` is the SHA-256 of the parts' SHA-256 in order, with
 * the number of parts.
 */
export type ObjectChecksum =
  | { readonly kind: "sha256"; readonly value: string }
  | { readonly kind: "sha256-parts"; readonly value: string; readonly parts: number }
  | { readonly kind: "md5"; readonly value: string }
  | { readonly kind: "crc32c"; readonly value: string };

export type ListedObject = {
  readonly key: string;
  readonly bytes: number;
  readonly writtenAtMs: number;
};

/** The writer's knowledge of a file before it sends the first byte. Digests are hex. */
export type FileDigests = {
  readonly bytes: number;
  readonly sha256: string;
  /** The digests of each part, in order; a file of one part, even an empty one, has one entry. */
  readonly parts: readonly PartDigests[];
  /** Base64; empty if unknown. For stores that keep a checksum of the whole object. */
  readonly md5: string;
  readonly crc32c: string;
};

export type PartDigests = { readonly sha256: string };

/**
 * One HTTP request that a client without credentials may send until `expiresAtMs`, with exactly these headers. The URL
 * is a secret until then and must not be logged. The store may accept the address of a "resumable" plan for a week; it
 * too accepts only the announced content.
 */
export type PlannedRequest = {
  readonly method: "PUT" | "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Statuses that mean success; any other status is a failure of the part. */
  readonly accepted: readonly number[];
  readonly expiresAtMs: number;
};

/**
 * The rest of a file to send. `parts` has only parts that the store lacks; a part covers `bytes` bytes from `offset`,
 * and parts may be sent in any order. A "resumable" plan has one part, the whole rest: if the request breaks off, the
 * store keeps the received bytes, and the next plan begins there. If nothing is `missing`, the store has all bytes, and
 * `finishUpload` creates the object.
 */
export type UploadPlan = {
  readonly kind: "single" | "multipart" | "resumable";
  /** All parts and bytes that the store lacks; `parts` may have only the first of these parts (see `claim`). */
  readonly missing: { readonly parts: number; readonly bytes: number };
  readonly parts: readonly PlannedPart[];
};

/** Called once with the number of missing parts; returns how many to plan. Several plans can then share one answer. */
export type Claim = (parts: number) => number;

export type UploadOptions = {
  /** True if the caller knows that no such object exists, which saves a request. */
  readonly absent?: boolean;
  /** The object's head, if the caller has just read it, which saves a request. */
  readonly there?: ObjectHead;
  /** Default: all missing parts are planned. */
  readonly claim?: Claim;
};

export type PlannedPart = {
  readonly offset: number;
  readonly bytes: number;
  readonly request: PlannedRequest;
};

/**
 * `head` is the store's description of the copy; null if the store returns none. "unsupported": the caller must send
 * the bytes itself.
 */
export type CopyResult =
  | { readonly kind: "copied"; readonly head: ObjectHead | null }
  | { readonly kind: "absent" | "unsupported" };

/** The stream must be read to its end or closed by `return`. It throws a Fault if the store breaks off. */
export type ObjectContent = { readonly bytes: number; readonly stream: AsyncIterable<Uint8Array> };

export interface ObjectStore extends AsyncDisposable {
  /** The store's address for messages: `s3://bucket/prefix`. */
  readonly address: string;
  /** The size of a part; smaller files are sent in one request. */
  readonly partBytes: number;
  head(key: string): Promise<ObjectHead | null>;
  open(key: string): Promise<ObjectContent | null>;
  /**
   * Stores small content (markers, probes). With `ifAbsent` an existing object stays unchanged and `false` is returned;
   * of several concurrent writers exactly one gets `true`.
   */
  put(
    key: string,
    content: Uint8Array,
    options?: { readonly ifAbsent?: boolean },
  ): Promise<boolean>;
  /** Lists objects in key order, a page at a time. `below` is a prefix of keys. */
  list(below: string): AsyncIterable<ListedObject>;
  /**
   * Deletes objects, one request per page of keys. Absent keys count as deleted. With `listedBelow`, a folder with its
   * slash, the keys are those that `list` returned: they need not be valid, only below the folder.
   */
  delete(keys: readonly string[], listedBelow?: string): Promise<void>;
  /** Copies inside the store. A caller that passes the object's size, `bytes`, saves the request for it. */
  copy(from: string, to: string, bytes?: number): Promise<CopyResult>;
  /**
   * Plans the rest of an upload. After a crash a repeated call resumes: parts that the store has are not planned again.
   */
  planUpload(key: string, file: FileDigests, options?: UploadOptions): Promise<UploadPlan>;
  /**
   * Creates one object from the uploaded parts; idempotent. Throws a Fault `upload_incomplete` if parts are missing.
   */
  finishUpload(key: string, file: FileDigests): Promise<ObjectHead>;
  /** Aborts all unfinished uploads below a prefix of keys and frees their space. */
  abortUploads(below: string): Promise<void>;
  /** Does not check that the object exists: the planned request reports it. */
  planDownload(key: string): Promise<PlannedRequest>;
}
