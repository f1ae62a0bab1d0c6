import { Fault } from "@trainyard/kernel";
import { isBlobKey } from "./port.ts";

export function checkKey(key: string): void {
  if (isBlobKey(key)) return;
  throw new Fault("invalid_key", `${JSON.stringify(key)} is not a blob key`, { retry: "never" });
}

export function digestMismatch(key: string, expected: string, actual: string): Fault {
  return new Fault(
    "digest_mismatch",
    `the content of ${key} has SHA-256 ${actual}, not ${expected}`,
    { retry: "never", fields: { key, expected, actual } },
  );
}

export function storeFailed(action: string, key: string, cause: unknown): Fault {
  return new Fault("blob_store_failed", `${key} cannot be ${action}`, {
    retry: "later",
    cause,
    fields: { key },
  });
}
