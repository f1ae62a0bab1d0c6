/**
 * The failures of an object store as Faults with readable messages. `retry` assumes that the store's configuration
 * stays unchanged.
 */
import { Fault } from "@trainyard/kernel";

/** `doing` is a verb and its object: "read a/b". */
export function refused(address: string, doing: string, why: string, cause?: unknown): Fault {
  return fault("storage_refused", `${address} refuses to ${doing}: ${why}`, "never", cause);
}

export function away(address: string, doing: string, why: string, cause?: unknown): Fault {
  return fault("storage_away", `${address} cannot ${doing} now: ${why}`, "later", cause);
}

/** For a page of a listing that is not the last one and does not name the next one. */
export function endsEarly(address: string, doing: string): Fault {
  return away(address, doing, "its page names no next one, but is not the last");
}

export function bucketNotFound(address: string, bucket: string, cause?: unknown): Fault {
  return fault(
    "bucket_not_found",
    `the bucket ${bucket} of ${address} does not exist`,
    "never",
    cause,
  );
}

export function credentialsMissing(address: string, why: string, cause?: unknown): Fault {
  const detail = `no credentials for ${address}: ${why}`;
  return fault("credentials_missing", detail, "never", cause);
}

export function uploadIncomplete(key: string, why: string): Fault {
  return fault("upload_incomplete", `the upload of ${key} is not complete: ${why}`, "later");
}

function fault(code: string, detail: string, retry: "never" | "later", cause?: unknown): Fault {
  return new Fault(code, detail, { retry, ...(cause === undefined ? {} : { cause }) });
}
