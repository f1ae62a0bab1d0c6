/**
 * The idempotency keys of changes whose outcome is unknown: the connection broke, or the platform was away. The same
 * change again has the same key, so that it has one effect.
 */
import { ApiError } from "@trainyard/client";

type Attempt = { readonly key: string; readonly atMs: number };

/** After this time an equal change is meant as a new one. */
const keptMs = 10 * 60_000;

export class Attempts {
  readonly #open = new Map<string, Attempt>();

  /** The key of a change, which its text identifies: that of its last attempt if the outcome of that is unknown. */
  keyOf(text: string, nowMs: number): string {
    const last = this.#open.get(text);
    if (last !== undefined && nowMs - last.atMs < keptMs) return last.key;
    const key = crypto.randomUUID();
    this.#open.set(text, { key, atMs: nowMs });
    return key;
  }

  /** Null for an answer. */
  ended(text: string, error: unknown): void {
    if (isKnown(error)) this.#open.delete(text);
  }
}

function isKnown(error: unknown): boolean {
  if (error === null) return true;
  return error instanceof ApiError && ![429, 502, 503, 504].includes(error.problem.status);
}
