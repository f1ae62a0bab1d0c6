import { type Clock, pause } from "@trainyard/kernel";
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

export type Patience = {
  /** Whether a failure is worth another attempt. */
  readonly passes: (error: unknown) => boolean;
  readonly limitMs: number;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
};

/** Attempts again what failed for a reason that passes, until the limit; then throws the last failure. */
export async function patiently<Result>(
  { passes, limitMs, clock, signal }: Patience,
  attempt: () => Promise<Result>,
): Promise<Result> {
  const endMs = clock.monotonicMs() + limitMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const asked = error instanceof ApiError ? error.retryAfterMs : 0;
      const waitMs = Math.max(asked, clientLimits.retryMs);
      if (!passes(error) || clock.monotonicMs() + waitMs > endMs) throw error;
      // Ends early, without a failure, when the caller gives up: the next attempt then says so.
      await pause(clock, waitMs, signal);
    }
  }
}
