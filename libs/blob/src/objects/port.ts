/**
 * A bucket of S3 or Google Cloud Storage, or what speaks their protocol, below a prefix. Keys are relative to the
 * prefix.
 *
 * - A write is acknowledged when the store has the whole object; a reader never sees a part of one.
 * - `head`, `open` and `copy` return null or "absent" only where the store says that the object does not
 *   exist. A refusal (403) is a Fault `storage_refused`, which is never absence. A store that is away, throttles or
 *   fails is a Fault `storage_away` with retry "later"; the adapter has tried again several times before. A bucket that
 *   does not exist is a Fault `bucket_not_found`. Without credentials every call is a Fault `credentials_missing`.
 * - A key that is not one (see `checkObjectKey`) is a Fault `invalid_key`, a file beyond the store's limits
 *   `file_too_large`.
 * - Files have digests of parts of `partBytes`; each part is at most that large and all but the last are exactly that
 *   large. They are sent in these parts, but by a "resumable" plan.
 * - Content passes through as a stream; an adapter never holds a file in memory.
 */
export type ObjectHead = {
  readonly bytes: number;
  /** The checksum that the store keeps of the content; null if it keeps none that it verified. */
  readonly checksum: ObjectChecksum | null;
};

/** Base64, as the stores give them. `sha256-parts` is the SHA-256 of the parts' SHA-256 in order, with their number. */
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

/** A file as the writer knows it before it sends the first byte. Digests are hex. */
export type FileDigests = {
  readonly bytes: number;
  readonly sha256: string;
  /** The digests of each part, in order; one entry for a file of one part, also for an empty one. */
  readonly parts: readonly PartDigests[];
  /** Base64; empty if unknown. For stores that keep one of a whole object. */
  readonly md5: string;
  readonly crc32c: string;
};

export type PartDigests = { readonly sha256: string };

/**
 * One HTTP request that a client without credentials may send until `expiresAtMs`, with exactly these headers. The URL
 * is a secret until then: it belongs in no log. The address of a "resumable" plan may be accepted for longer, a week at
 * most; it too takes nothing but the announced content.
 */
export type PlannedRequest = {
  readonly method: "PUT" | "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Answers that mean that the request was carried out; any other is a failure of the part. */
  readonly accepted: readonly number[];
  readonly expiresAtMs: number;
};

/**
 * The rest of a file to send. `parts` holds only what the store does not have yet; a part covers the bytes from
 * `offset`, `bytes` of them, and parts may be sent in any order. A "resumable" plan has one part, the whole rest: if it
 * breaks off, the store keeps what arrived, and the next plan begins there. If `missing` is empty, the store has all
 * bytes, and `finishUpload` makes the object.
 */
export type UploadPlan = {
  readonly kind: "single" | "multipart" | "resumable";
  /** All parts and bytes that the store does not have; `parts` may have only the first of these (see `claim`). */
  readonly missing: { readonly parts: number; readonly bytes: number };
  readonly parts: readonly PlannedPart[];
};

/** How many of some parts may be planned. */
export type Claim = (parts: number) => number;

export type PlannedPart = {
  readonly offset: number;
  readonly bytes: number;
  readonly request: PlannedRequest;
};

/**
 * `head` is what the store's answer says of the copy; null where it says nothing. "unsupported": the caller sends the
 * bytes itself.
 */
export type CopyResult =
  | { readonly kind: "copied"; readonly head: ObjectHead | null }
  | { readonly kind: "absent" | "unsupported" };

/** The stream must be read to its end or left by `return`. It throws a Fault where the store breaks off. */
export type ObjectContent = { readonly bytes: number; readonly stream: AsyncIterable<Uint8Array> };

export interface ObjectStore extends AsyncDisposable {
  /** The address in messages: `s3://bucket/prefix`. */
  readonly address: string;
  /** The size of a part; files up to it are sent in one request. */
  readonly partBytes: number;
  head(key: string): Promise<ObjectHead | null>;
  open(key: string): Promise<ObjectContent | null>;
  /**
   * Stores small content (markers, probes). With `ifAbsent` an object that is there stays, and false is returned: of
   * several writers at the same time one gets true.
   */
  put(
    key: string,
    content: Uint8Array,
    options?: { readonly ifAbsent?: boolean },
  ): Promise<boolean>;
  /** In key order, a page at a time. `below` is a prefix of keys. */
  list(below: string): AsyncIterable<ListedObject>;
  /** Absent keys count as deleted. Each page of keys is one request. */
  delete(keys: readonly string[]): Promise<void>;
  /** Copies inside the store. Of an object whose size the caller knows, `bytes`, nobody asks the store for it. */
  copy(from: string, to: string, bytes?: number): Promise<CopyResult>;
  /**
   * The rest to send. A repeat after a crash resumes: parts that the store has are not planned again. With `absent` the
   * caller knows from a listing that there is no such object, which saves a request; so does `there`, what the store
   * has just said of it. `claim` is asked once, with the number of missing parts, and returns how many of them are
   * planned now: several plans share what one answer holds. All without it.
   */
  planUpload(
    key: string,
    file: FileDigests,
    options?: { readonly absent?: boolean; readonly there?: ObjectHead; readonly claim?: Claim },
  ): Promise<UploadPlan>;
  /**
   * Makes one object of the parts that were sent. Repeats harm nothing. A Fault `upload_incomplete` if parts are
   * missing.
   */
  finishUpload(key: string, file: FileDigests): Promise<ObjectHead>;
  /** Gives back what unfinished uploads below a prefix of keys occupy. */
  abortUploads(below: string): Promise<void>;
  /** Does not look whether the object is there: the answer to the request says so. */
  planDownload(key: string): Promise<PlannedRequest>;
}
