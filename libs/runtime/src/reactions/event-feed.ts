/**
 * The log's events in position order, without gaps: live from the bus while it carries, from the log whenever the next
 * position is missing there or the bus is silent. Wakes within a millisecond of a publish; with the bus away it polls.
 */
import type { Bus } from "@trainyard/bus";
import type { EventLog, StoredEvent } from "@trainyard/event-log";
import type { Clock } from "@trainyard/kernel";
import { pause } from "../clock.ts";
import { runtimeLimits } from "../limits.ts";

export class EventFeed implements AsyncDisposable {
  readonly #log: EventLog;
  readonly #bus: Bus;
  readonly #clock: Clock;
  readonly #stack = new AsyncDisposableStack();
  #live: StoredEvent[] = [];
  #nudged = false;
  #wake: () => void = () => {};

  private constructor(log: EventLog, bus: Bus, clock: Clock) {
    this.#log = log;
    this.#bus = bus;
    this.#clock = clock;
  }

  static async open(log: EventLog, bus: Bus, clock: Clock): Promise<EventFeed> {
    const feed = new EventFeed(log, bus, clock);
    feed.#stack.use(await bus.tailEvents((event) => feed.#receive(event)));
    return feed;
  }

  #receive(event: StoredEvent): void {
    // Overflowing drops the oldest: the log has them, and the gap sends the reader there.
    if (this.#live.length >= runtimeLimits.liveBufferEvents) this.#live.shift();
    this.#live.push(event);
    this.#wake();
  }

  /** The next events after a position, at least one; an empty list only when the signal aborts. */
  async next(after: number, signal: AbortSignal): Promise<readonly StoredEvent[]> {
    for (;;) {
      if (signal.aborted) return [];
      const live = this.#takeLive(after);
      if (live.length > 0) return live;
      this.#nudged = false;
      const stored = await this.#log.readAll(after, runtimeLimits.pageEvents);
      if (stored.length > 0) return stored;
      await this.#waitForMore(after, signal);
    }
  }

  /** The log's own event at a position; null when the log does not reach there. */
  async at(position: number): Promise<StoredEvent | null> {
    const [event] = await this.#log.readAll(position - 1, 1);
    return event?.position === position ? event : null;
  }

  /** The last position of the log. */
  head(): Promise<number> {
    return this.#log.head();
  }

  /** Someone waits for what was just committed: look into the log now, whatever the bus says. */
  nudge(): void {
    this.#nudged = true;
    this.#wake();
  }

  /** The run of buffered events that continues at `after + 1`. */
  #takeLive(after: number): readonly StoredEvent[] {
    const fresh = this.#live.findIndex((event) => event.position > after);
    if (fresh < 0) {
      this.#live = [];
      return [];
    }
    let end = fresh;
    let expected = after + 1;
    while (end < this.#live.length && this.#live[end]?.position === expected) {
      expected += 1;
      end += 1;
      if (end - fresh >= runtimeLimits.pageEvents) break;
    }
    const run = this.#live.slice(fresh, end);
    this.#live = this.#live.slice(end);
    return run;
  }

  async #waitForMore(after: number, signal: AbortSignal): Promise<void> {
    // It may have aborted while the log was read; a listener that comes after would wait the silence out.
    if (signal.aborted || this.#nudged || this.#live.some((event) => event.position > after))
      return;
    const woken = new AbortController();
    const onAbort = (): void => woken.abort();
    signal.addEventListener("abort", onAbort, { once: true });
    this.#wake = () => woken.abort();
    const silence = this.#bus.connected() ? runtimeLimits.silentBusMs : runtimeLimits.absentBusMs;
    await pause(this.#clock, silence, woken.signal);
    this.#wake = () => {};
    signal.removeEventListener("abort", onAbort);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}
