import { pause, systemClock } from "@trainyard/runtime";
import { limits } from "../limits.ts";

/** Growing waits between attempts after a fault of the world; over at once when the signal aborts. */
export class Backoff {
  readonly #signal: AbortSignal;
  #nextMs: number = limits.retryFirstMs;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  async wait(atLeastMs = 0): Promise<void> {
    const waitMs = Math.max(atLeastMs, this.#nextMs * (0.75 + Math.random() / 2));
    this.#nextMs = Math.min(this.#nextMs * 2, limits.retryLastMs);
    await pause(systemClock, waitMs, this.#signal);
  }

  reset(): void {
    this.#nextMs = limits.retryFirstMs;
  }
}
