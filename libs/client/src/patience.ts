import { type Clock, pause } from "@trainyard/kernel";
import { ApiError, Unreachable } from "./api-error.ts";
import { clientLimits } from "./limits.ts";

/**
 * The platform is overloaded or unavailable for a while, or still makes the call under the same idempotency key: an
 * earlier attempt may have broken off with its gateway.
 */
export function isBusy(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  const { status, code } = error.problem;
  return status === 503 || status === 429 || code === "in_progress";
}

/** The call was refused before anything was done: whatever it is, it may be repeated. */
export function isTooMany(error: unknown): boolean {
  return error instanceof ApiError && error.problem.status === 429;
}

/** The platform is busy, or did not answer: then a proxy in front of it answers 502 or 504. */
export function isAway(error: unknown): boolean {
  if (error instanceof Unreachable || isBusy(error)) return true;
  return error instanceof ApiError && [502, 504].includes(error.problem.status);
}

export type Patience = {
  /** Whether a failure is worth another attempt. */
  readonly passes: (error: unknown) => boolean;
  readonly limitMs: number;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Repeats an attempt that failed with a passing error, and then throws the last error. It ends by the limit, as an
 * attempt takes about as long as the one before.
 */
export async function patiently<Result>(
  { passes, limitMs, clock, signal }: Patience,
  attempt: () => Promise<Result>,
): Promise<Result> {
  const endMs = clock.monotonicMs() + limitMs;
  for (;;) {
    const beganMs = clock.monotonicMs();
    try {
      return await attempt();
    } catch (error) {
      const asked = error instanceof ApiError ? error.retryAfterMs : 0;
      const waitMs = Math.max(asked, clientLimits.retryMs);
      const nowMs = clock.monotonicMs();
      if (!passes(error) || nowMs + waitMs + (nowMs - beganMs) > endMs) throw error;
      // An abort by the caller ends the pause without an error: the next attempt throws it.
      await pause(clock, waitMs, signal);
    }
  }
}
