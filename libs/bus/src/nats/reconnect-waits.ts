import { busLimits } from "../limits.ts";

/**
 * How long a client waits before it dials again: twice as long after each failure, up to a longest wait, and each wait
 * random within its upper half, so that clients that lost one server at one moment come back spread out. A wait is at
 * most about twice as long as the server has been away.
 */
export class ReconnectWaits {
  readonly #lastMs: number;
  readonly #random: () => number;
  #failures = 0;

  /** `random` is uniform in [0, 1). */
  constructor(lastMs: number, random: () => number = Math.random) {
    this.#lastMs = lastMs;
    this.#random = random;
  }

  /** Milliseconds until the next dial. */
  next(): number {
    const most = Math.min(this.#lastMs, busLimits.dialWaitFirstMs * 2 ** this.#failures);
    if (most < this.#lastMs) this.#failures += 1;
    return (most * (1 + this.#random())) / 2;
  }

  /** After a connection: the next loss begins with the shortest wait again. */
  reset(): void {
    this.#failures = 0;
  }
}
