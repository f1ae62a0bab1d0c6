/**
 * The idempotency keys of changes whose outcome is unknown: the connection broke, or the platform was unavailable.
 * Repeating the change reuses its key, so that it takes effect once.
 */
import { ApiError } from "@trainyard/client";

type Attempt = { readonly key: string; readonly atMs: number };

/** After this time an equal change counts as a new one. */
const keptMs = 10 * 60_000;

export class Attempts {
  readonly #open = new Map<string, Attempt>();

  /** Returns the key of a change, which its text identifies: the key of its last attempt if the outcome is unknown. */
  keyOf(text: string, nowMs: number): string {
    const last = this.#open.get(text);
    if (last !== undefined && nowMs - last.atMs < keptMs) return last.key;
    const key = newKey();
    this.#open.set(text, { key, atMs: nowMs });
    return key;
  }

  /** Ends an attempt; `error` is null for an answer. */
  ended(text: string, error: unknown): void {
    if (isKnown(error)) this.#open.delete(text);
  }
}

/** Returns 128 random bits. Browsers have `crypto.randomUUID` over HTTPS and on localhost only. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint32Array(4)), (word) => word.toString(36)).join("-");

function isKnown(error: unknown): boolean {
  if (error === null) return true;
  return error instanceof ApiError && ![429, 502, 503, 504].includes(error.problem.status);
}
