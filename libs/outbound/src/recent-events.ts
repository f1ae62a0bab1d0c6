/**
 * One read of the log for all readers that are level with it: the latest events, each with its forms computed once. A
 * reader that is behind reads its own pages. Nothing is read before the first reader asks.
 */
import type { Bus } from "@trainyard/bus";
import { bytesOfEvents, type EventLog, type StoredEvent } from "@trainyard/event-log";
import { type Clock, isRejection, retrying } from "@trainyard/kernel";
import { endsTerm, EventFeed, type LogEpoch, type Logger, LogRewound } from "@trainyard/runtime";
import { checkedPlace } from "./event-place.ts";
import { LeavingEvent } from "./leaving-event.ts";
import { outboundLimits } from "./limits.ts";

type Deps = {
  readonly log: EventLog;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly epoch: Pick<LogEpoch, "current">;
};

export class RecentEvents {
  readonly #deps: Deps;
  /** Events without gaps, the latest last. */
  #events: LeavingEvent[] = [];
  #bytes = 0;
  /** The last event that was read from the log; null before the first. */
  #last: StoredEvent | null = null;
  #moved = Promise.withResolvers<void>();
  #history = 0;
  readonly #asked = Promise.withResolvers<void>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * Follows the log until the signal aborts, also while the log is away. Throws LogRewound if the log lost events, and
   * LeaseLost with the lease.
   */
  async run(signal: AbortSignal): Promise<void> {
    const aborted = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => aborted.resolve(), { once: true });
    if (!signal.aborted) await Promise.race([this.#asked.promise, aborted.promise]);
    if (signal.aborted) return;
    const { clock, logger } = this.#deps;
    const failed = (error: unknown, waitMs: number): void => {
      if (endsTerm(error)) {
        this.#last = null;
        throw error;
      }
      logger.warn({ err: error, waitMs }, "recent_events_retried");
    };
    const policy = outboundLimits.retry;
    await retrying({ policy, clock, signal, failed }, () => this.#follow(signal));
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { log, bus, clock, logger, epoch } = this.#deps;
    this.#events = [];
    this.#bytes = 0;
    this.#history += 1;
    await using feed = await EventFeed.open(log, bus, clock, logger);
    await this.#confirm(log);
    let after = await feed.head();
    // Readers that wait read what was appended meanwhile from the log: it is not among the kept events.
    this.#wakeReaders();
    while (!signal.aborted) {
      const stored = await feed.next(after, signal);
      const present = await epoch.current();
      this.#keep(stored.map((event) => new LeavingEvent(event, present)));
      const last = stored.at(-1);
      after = last?.position ?? after;
      if (last !== undefined) this.#last = last;
      this.#wakeReaders();
    }
  }

  /** Throws LogRewound if the log lost the last event that was read before it was away. */
  async #confirm(log: EventLog): Promise<void> {
    const last = this.#last;
    if (last === null) return;
    const found = await checkedPlace(log, { position: last.position, event: last.id });
    if (isRejection(found)) throw new LogRewound(last, "does not have it now");
  }

  #wakeReaders(): void {
    this.#moved.resolve();
    this.#moved = Promise.withResolvers();
  }

  #keep(more: readonly LeavingEvent[]): void {
    const { recentBytesMax, recentEventsMax } = outboundLimits;
    const events = [...this.#events, ...more];
    this.#bytes += bytesOfEvents(more.map(({ stored }) => stored));
    let dropped = 0;
    for (const { stored } of events) {
      if (events.length - dropped <= recentEventsMax && this.#bytes <= recentBytesMax) break;
      this.#bytes -= Buffer.byteLength(stored.body);
      dropped += 1;
    }
    this.#events = events.slice(dropped);
  }

  /** A number that changes when the log may have gone back: a reader then checks that the log has its place. */
  get history(): number {
    return this.#history;
  }

  /** Returns the next events after a position, at least one; none only when the signal aborts. */
  async after(position: number, signal: AbortSignal): Promise<readonly LeavingEvent[]> {
    this.#asked.resolve();
    const aborted = Promise.withResolvers<void>();
    const abort = (): void => aborted.resolve();
    signal.addEventListener("abort", abort, { once: true });
    try {
      while (!signal.aborted) {
        const moved = this.#moved.promise;
        const events = await this.next(position);
        if (events.length > 0) return events;
        await Promise.race([moved, aborted.promise]);
      }
      return [];
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  /** Returns the next events after a position; none at the end of the log. */
  async next(position: number): Promise<readonly LeavingEvent[]> {
    return this.kept(position) ?? (await this.#read(position));
  }

  /** Returns the events at some positions, in their order. */
  async at(positions: readonly number[]): Promise<readonly LeavingEvent[]> {
    const { log, epoch } = this.#deps;
    const present = await epoch.current();
    return (await log.readAt(positions)).map((event) => new LeavingEvent(event, present));
  }

  /** Returns what is kept after a position, which costs no read; null if the position is before all that is kept. */
  kept(position: number): readonly LeavingEvent[] | null {
    const first = this.#events[0]?.stored.position;
    if (first === undefined || position + 1 < first) return null;
    const from = position + 1 - first;
    return this.#events.slice(from, from + outboundLimits.pageEvents);
  }

  async #read(position: number): Promise<readonly LeavingEvent[]> {
    const { log, epoch } = this.#deps;
    const stored = await log.readAll(position, outboundLimits.pageEvents);
    const present = await epoch.current();
    return stored.map((event) => new LeavingEvent(event, present));
  }
}
