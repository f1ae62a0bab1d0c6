import { randomUUIDv7 } from "node:crypto";
import { v5 } from "uuid";

/** Must never change: with another namespace, a retried commit would get another id. */
const commitNamespace = "7f0c6d0e-3c52-5d0b-9f0a-5a1d6a3b8c11";

/** Returns a UUIDv7: unique, and roughly in order of creation. */
export function newEventId(): string {
  return randomUUIDv7();
}

/**
 * Derives a UUID (version 5): the same parts always give the same one. Parts are separated, so ("ab", "c") differs from
 * ("a", "bc").
 */
export function deriveCommitId(...parts: readonly string[]): string {
  return v5(JSON.stringify(parts), commitNamespace);
}
