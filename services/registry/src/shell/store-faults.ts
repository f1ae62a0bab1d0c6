/**
 * Translates an object store's permanent refusals for callers of commands. Problems that an operator can fix (a missing
 * right, credentials, the bucket) are retried later, since a sealed checkpoint loses nothing by waiting. Content that
 * the store can never accept is rejected.
 */
import { Fault, isFault, type Rejection, reject } from "@trainyard/kernel";

const mendable = new Set([
  "storage_refused",
  "bucket_not_found",
  "credentials_missing",
  "endpoint_not_allowed",
]);
const unstorable = new Set(["invalid_key", "file_too_large", "wrong_digests"]);

/** Returns the result of `work`. A Fault that must never be retried becomes a rejection or a Fault to retry later. */
export async function withStoreRejections<Result>(
  work: () => Promise<Result>,
): Promise<Result | Rejection> {
  try {
    return await work();
  } catch (error) {
    if (!isFault(error) || error.retry !== "never") throw error;
    if (unstorable.has(error.code)) return reject("invalid_manifest", error.message);
    if (!mendable.has(error.code)) throw error;
    const { message, cause } = error;
    throw new Fault("storage_unusable", message, { retry: "later", cause: cause ?? error });
  }
}
