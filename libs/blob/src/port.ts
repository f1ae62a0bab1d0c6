/**
 * Blobs by key, as everything else sees them.
 *
 * Promises, each a test of the contract suite that every adapter passes:
 * - `put` stores all of the content or nothing, and answers after it is durable. Content that is not what its SHA-256
 *   says is a Fault `digest_mismatch`, and a blob that was there before stays as it was.
 * - A repeat of a `put` harms nothing. A reader never sees a part of a blob.
 * - Absence is an answer (null), not a Fault. To delete what is absent does nothing.
 * - A key that is not one (see `isBlobKey`) is a Fault `invalid_key`.
 */
export type BlobStat = { readonly bytes: number };

export type BlobContent = BlobStat & {
  /** Must be read to its end or destroyed. */
  readonly stream: AsyncIterable<Uint8Array>;
};

export interface BlobStore {
  /** `sha256` is hex. Gives the size. */
  put(key: string, content: AsyncIterable<Uint8Array>, sha256: string): Promise<BlobStat>;
  get(key: string): Promise<BlobContent | null>;
  stat(key: string): Promise<BlobStat | null>;
  delete(key: string): Promise<void>;
}

const keyPattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]*(\/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$/;
const keyCharactersMax = 512;

/** Parts of letters, digits, `_`, `-` and `.`, with / between them; none begins with a dot or a dash. */
export function isBlobKey(key: string): boolean {
  return key.length <= keyCharactersMax && keyPattern.test(key);
}
