/**
 * The time by the log's clock, which may differ from this host's: the time of the newest event, plus the time that has
 * passed here since, on the monotonic clock. So neither the clock of the host that condemned a checkpoint nor this
 * host's can end a grace early.
 *
 * The time is behind the log's clock until the first event after a start is seen. If the log's time later advances
 * further than the monotonic clock explains, the log's clock was set forward, and nothing is deleted for one more
 * grace. The first event after a start may also follow a time without events, so it holds nothing.
 */
import type { EventLog } from "@trainyard/event-log";
import type { Clock } from "@trainyard/kernel";
import { gcLimits } from "../limits.ts";

export type LogTime = Pick<LogClock, "nowMs" | "look">;

export class LogClock {
  readonly #log: Pick<EventLog, "head" | "readAll">;
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #graceMs: number;
  /** The difference of the log's clock and the monotonic clock; null until an event was seen. */
  #aheadMs: number | null = null;
  /** The newest position at the start, until a later event tells the age of that one; then null. */
  #ofUnknownAge: number | null = null;
  #heldUntilMs = Number.NEGATIVE_INFINITY;

  constructor(
    log: Pick<EventLog, "head" | "readAll">,
    clock: Pick<Clock, "monotonicMs">,
    graceMs: number,
  ) {
    this.#log = log;
    this.#clock = clock;
    this.#graceMs = graceMs;
  }

  /** Returns the time as of the last look, in Unix milliseconds; 0 before the first event. */
  nowMs(): number {
    return this.#aheadMs === null ? 0 : this.#clock.monotonicMs() + this.#aheadMs;
  }

  /** Returns for how many milliseconds no grace counts as over; 0 for none. */
  heldMs(): number {
    return Math.max(0, this.#heldUntilMs - this.#clock.monotonicMs());
  }

  /** Reads the time of the newest event. */
  async look(): Promise<void> {
    const head = await this.#log.head();
    const [newest] = head === 0 ? [] : await this.#log.readAll(head - 1, 1);
    if (newest === undefined) return;
    const aheadMs = newest.timeMs - this.#clock.monotonicMs();
    if (this.#aheadMs === null) this.#ofUnknownAge = head;
    const jumpMs = aheadMs - (this.#aheadMs ?? aheadMs);
    if (jumpMs > gcLimits.clockJumpMs && this.#ofUnknownAge === null) {
      this.#heldUntilMs = this.#clock.monotonicMs() + this.#graceMs;
    }
    if (head > (this.#ofUnknownAge ?? head)) this.#ofUnknownAge = null;
    this.#aheadMs = Math.max(this.#aheadMs ?? aheadMs, aheadMs);
  }
}
