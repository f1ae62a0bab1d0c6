/** Retries an operation after transient failures, with waits that double up to a limit. */
import { type Clock, pause, type Signal } from "./time.ts";

export type RetryPolicy = {
  readonly firstMs: number;
  readonly lastMs: number;
  /** The fraction by which each wait varies at random, so that many clients do not return at once. */
  readonly spread?: number;
};

/** The waits between attempts. */
export class Backoff {
  readonly #policy: RetryPolicy;
  readonly #clock: Clock;
  readonly #signal: Signal;
  #nextMs: number;

  constructor(policy: RetryPolicy, clock: Clock, signal: Signal) {
    this.#policy = policy;
    this.#clock = clock;
    this.#signal = signal;
    this.#nextMs = policy.firstMs;
  }

  /** The next wait, without its spread. */
  get nextMs(): number {
    return this.#nextMs;
  }

  /** Waits, or returns at once when the signal aborts. The next wait is twice as long. */
  async wait(atLeastMs = 0): Promise<void> {
    const { lastMs, spread = 0 } = this.#policy;
    const waitMs = this.#nextMs * (1 + spread * (2 * Math.random() - 1));
    this.#nextMs = Math.min(this.#nextMs * 2, lastMs);
    await pause(this.#clock, Math.max(atLeastMs, waitMs), this.#signal);
  }

  /** Called after a success: the next wait is the first one again. */
  reset(): void {
    this.#nextMs = this.#policy.firstMs;
  }
}

export type Retrying = {
  readonly policy: RetryPolicy;
  readonly clock: Clock;
  readonly signal: Signal;
  /**
   * Called with each failure and the wait after it. It logs the failure and throws an error that no retry can fix.
   * `at_once` retries without a wait; `enough` gives up.
   */
  readonly failed: (
    error: unknown,
    waitMs: number,
  ) => "at_once" | "enough" | void | Promise<"at_once" | "enough" | void>;
};

/**
 * Returns the result of the first successful attempt; undefined when the signal aborts before, or when `failed` returns
 * `enough`. A long attempt calls `progressed`, which resets the wait.
 */
export async function retrying<Result>(
  { policy, clock, signal, failed }: Retrying,
  attempt: (progressed: () => void) => Promise<Result>,
): Promise<Result | undefined> {
  const backoff = new Backoff(policy, clock, signal);
  while (!signal.aborted) {
    try {
      return await attempt(() => backoff.reset());
    } catch (error) {
      if (signal.aborted) return undefined;
      const then = await failed(error, backoff.nextMs);
      if (then === "enough") return undefined;
      if (then !== "at_once") await backoff.wait();
    }
  }
  return undefined;
}

/** Reads the header Retry-After; 0 without one, and for a date, which no service of the platform sends. */
export function retryAfterMs(header: string | null): number {
  const seconds = Number(header);
  return Number.isFinite(seconds) ? seconds * 1_000 : 0;
}
