import { busLimits } from "../limits.ts";

/**
 * The wait of a client before it dials again: doubled after each failure, up to a maximum. Each wait is random within
 * its upper half, so that clients that lost their server at the same time return spread out. A wait is at most about
 * twice as long as the server has been unavailable.
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

  /** Returns the milliseconds until the next dial. */
  next(): number {
    const most = Math.min(this.#lastMs, busLimits.dialWaitFirstMs * 2 ** this.#failures);
    if (most < this.#lastMs) this.#failures += 1;
    return (most * (1 + this.#random())) / 2;
  }

  /** Called after a connection: the waits after the next loss start short again. */
  reset(): void {
    this.#failures = 0;
  }
}
