/**
 * Decides whether silence counts. It counts while this process receives its own probe over the bus without a gap: then
 * a silent agent is the cause, and not the connection or this process. After a start, a gap or a lost connection each
 * agent has a full window again. All times are of the monotonic clock.
 */
import { limits } from "../../limits.ts";

export class LinkMonitor {
  #lastMs: number | null = null;
  #sinceMs: number | null = null;

  /** Called when the process's own probe has come back. */
  heard(nowMs: number): void {
    if (this.#lastMs === null || nowMs - this.#lastMs > limits.probeGapMs) this.#sinceMs = nowMs;
    this.#lastMs = nowMs;
  }

  linkLost(): void {
    this.#lastMs = null;
    this.#sinceMs = null;
  }

  /** The silence of an agent that was last heard at `heardMs`, as far as silence counts. */
  silentForMs(heardMs: number | undefined, nowMs: number): number {
    if (this.#lastMs === null || this.#sinceMs === null) return 0;
    if (nowMs - this.#lastMs > limits.probeGapMs) return 0;
    return nowMs - Math.max(this.#sinceMs, heardMs ?? this.#sinceMs);
  }
}
