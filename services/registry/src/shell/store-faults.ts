/**
 * The refusals of an object store for good, as callers of commands get them. What only an operator can mend (a right,
 * the credentials, the bucket) is waited for, since a checkpoint that is sealed loses nothing; what no store takes is
 * refused.
 */
import { Fault, isFault, type Rejection, reject } from "@trainyard/kernel";

const mendable = new Set([
  "storage_refused",
  "bucket_not_found",
  "credentials_missing",
  "endpoint_not_allowed",
]);
const unstorable = new Set(["invalid_key", "file_too_large", "wrong_digests"]);

/** The result of `work`; in place of a Fault that is retried never, a rejection or a Fault that is retried later. */
export async function tellingOfStores<Result>(
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
