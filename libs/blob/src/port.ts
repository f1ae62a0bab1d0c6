/**
 * A store of blobs by key.
 *
 * The contract suite, which every adapter passes, tests each of these promises:
 * - `put` stores all of the content or nothing, and answers after it is durable. Content whose SHA-256 differs is a
 *   Fault `digest_mismatch`, and an existing blob stays unchanged.
 * - `put` is idempotent. A reader never sees a partial blob.
 * - An absent blob is null, not a Fault. Deleting an absent blob does nothing.
 * - An invalid key (see `isBlobKey`) is a Fault `invalid_key`.
 * - A signed address gives access to one blob for some minutes, without credentials.
 */
export type BlobStat = { readonly bytes: number };

export type BlobContent = BlobStat & {
  /** The stream must be read to its end or destroyed. */
  readonly stream: AsyncIterable<Uint8Array>;
};

export interface BlobStore {
  /** `sha256` is hex. Returns the size. */
  put(key: string, content: AsyncIterable<Uint8Array>, sha256: string): Promise<BlobStat>;
  get(key: string): Promise<BlobContent | null>;
  stat(key: string): Promise<BlobStat | null>;
  delete(key: string): Promise<void>;
  /** An address of the store at which everybody may read the blob; null if the store has no addresses. */
  signedUrl(key: string): Promise<string | null>;
}

const keyPattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]*(\/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$/;
const keyCharactersMax = 512;

/** A key has parts of letters, digits, `_`, `-` and `.`, with / between them; no part begins with a dot or a dash. */
export function isBlobKey(key: string): boolean {
  return key.length <= keyCharactersMax && keyPattern.test(key);
}
