import { v5, v7 } from "uuid";

/** Fixed forever: it is what makes a repeat's id equal to the first one. */
const commitNamespace = "7f0c6d0e-3c52-5d0b-9f0a-5a1d6a3b8c11";

/** A UUIDv7: unique, and roughly in the order in which they were drawn. */
export function newEventId(): string {
  return v7();
}

/**
 * The same parts always give the same UUID (version 5); parts are kept apart, so ("ab", "c") differs from ("a", "bc").
 */
export function deriveCommitId(...parts: readonly string[]): string {
  return v5(JSON.stringify(parts), commitNamespace);
}
