/**
 * Whether silence counts. It does while this process hears its own probe through the bus without a gap: then an agent
 * that is not heard is silent, and not the link or this process. After a start, a gap or a lost link everybody has a
 * full window again. All times are of the monotonic clock.
 */
import { limits } from "../../limits.ts";

export class Hearing {
  #lastMs: number | null = null;
  #sinceMs: number | null = null;

  /** The own probe came back. */
  heard(nowMs: number): void {
    if (this.#lastMs === null || nowMs - this.#lastMs > limits.probeGapMs) this.#sinceMs = nowMs;
    this.#lastMs = nowMs;
  }

  linkLost(): void {
    this.#lastMs = null;
    this.#sinceMs = null;
  }

  /** How long an agent that was last heard then has been silent, as far as silence counts. */
  silentForMs(heardMs: number | undefined, nowMs: number): number {
    if (this.#lastMs === null || this.#sinceMs === null) return 0;
    if (nowMs - this.#lastMs > limits.probeGapMs) return 0;
    return nowMs - Math.max(this.#sinceMs, heardMs ?? this.#sinceMs);
  }
}
