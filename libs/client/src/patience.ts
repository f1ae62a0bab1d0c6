import { pause } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { ApiError, Unreachable } from "./api-error.ts";
import { clientLimits } from "./limits.ts";

/** The platform answered that it cannot just now. */
export function isBusy(error: unknown): boolean {
  return (
    error instanceof ApiError && (error.problem.status === 503 || error.problem.status === 429)
  );
}

/** Busy, or not there at all. */
export function isAway(error: unknown): boolean {
  return error instanceof Unreachable || isBusy(error);
}

/** Attempts again what failed for a reason that passes, until the limit; then throws the last failure. */
export async function patiently<Result>(
  passes: (error: unknown) => boolean,
  limitMs: number,
  attempt: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const endMs = systemClock.monotonicMs() + limitMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const asked = error instanceof ApiError ? error.retryAfterMs : 0;
      const waitMs = Math.max(asked, clientLimits.retryMs);
      if (!passes(error) || systemClock.monotonicMs() + waitMs > endMs) throw error;
      // Ends early, without a failure, when the caller gives up: the next attempt then says so.
      await pause(systemClock, waitMs, signal);
    }
  }
}
