/**
 * The log's events in position order, without gaps: live from the bus while it carries, from the log whenever the next
 * position is missing there or the bus is silent. Wakes within a millisecond of a publish; with the bus away it polls.
 *
 * What comes live counts only where it follows, by the id of the event before it, the event that was read last from
 * this log: another log's relay on the same NATS account, and events that a failover lost, are never handed out.
 * Everything else is read from the log, which is looked at for having gone back (`LogRewound`). A reader that is level
 * with the bus waits for it first: what the bus missed shows by the event that comes next, or by silence.
 */
import type { Bus, EventOrigin } from "@trainyard/bus";
import type { EventLog, StoredEvent } from "@trainyard/event-log";
import type { Clock } from "@trainyard/kernel";
import { LogHistory } from "./log-history.ts";
import { runtimeLimits } from "../limits.ts";
import type { Logger } from "../logging.ts";

type Live = { readonly event: StoredEvent; readonly origin: EventOrigin };

export class EventFeed implements AsyncDisposable {
  readonly #log: EventLog;
  readonly #bus: Bus;
  readonly #clock: Clock;
  readonly #logger: Logger | null;
  readonly #history: LogHistory;
  readonly #handedOut: (events: readonly StoredEvent[]) => void;
  readonly #stack = new AsyncDisposableStack();
  /** The id of the log's first event, which names the log; null while it is not known, or the log is empty. */
  #name: string | null = null;
  #epoch = "";
  /** The position up to which events came live last; 0 where the log was read since. */
  #liveUntil = 0;
  #live: Live[] = [];
  #nudged = false;
  #wake: () => void = () => {};
  #toldMs = Number.NEGATIVE_INFINITY;

  private constructor(
    log: EventLog,
    bus: Bus,
    clock: Clock,
    logger: Logger | null,
    handedOut: (events: readonly StoredEvent[]) => void,
  ) {
    this.#log = log;
    this.#bus = bus;
    this.#clock = clock;
    this.#logger = logger;
    this.#history = new LogHistory(log);
    this.#handedOut = handedOut;
  }

  /**
   * The logger hears of events on the bus that are not this log's, `handedOut` of those that came live before they go
   * out.
   */
  static async open(
    log: EventLog,
    bus: Bus,
    clock: Clock,
    logger: Logger | null = null,
    handedOut: (events: readonly StoredEvent[]) => void = () => {},
  ): Promise<EventFeed> {
    const feed = new EventFeed(log, bus, clock, logger, handedOut);
    feed.#stack.use(await bus.tailEvents((event, origin) => feed.#receive({ event, origin })));
    return feed;
  }

  #receive(live: Live): void {
    const { event, origin } = live;
    if (this.#name !== null && origin.log !== "" && origin.log !== this.#name) {
      this.#tell(live, "is of another log: give each cluster a NATS account of its own");
      return;
    }
    if (origin.epoch !== this.#epoch) {
      // The relay has begun again, perhaps because the log went back: that is seen by looking into the log.
      this.#epoch = origin.epoch;
      this.#nudged = true;
    } else if (event.position <= (this.#history.known?.position ?? 0)) {
      return;
    }
    // Overflowing drops the oldest: the log has them, and the gap sends the reader there.
    if (this.#live.length >= runtimeLimits.liveBufferEvents) this.#live.shift();
    this.#live.push(live);
    this.#wake();
  }

  /**
   * The next events after a position, at least one; an empty list only when the signal aborts. Throws LogRewound, once,
   * where the log is not any more the one that was read.
   */
  async next(after: number, signal: AbortSignal): Promise<readonly StoredEvent[]> {
    for (;;) {
      if (signal.aborted) return [];
      const live = this.#takeLive(after);
      if (live.length > 0) return live;
      if (this.#liveUntil === after && after > 0) {
        this.#liveUntil = 0;
        await this.#waitForMore(after, signal);
        continue;
      }
      this.#nudged = false;
      const stored = await this.#read(after);
      if (stored.length > 0) return stored;
      await this.#waitForMore(after, signal);
    }
  }

  async #read(after: number): Promise<readonly StoredEvent[]> {
    this.#name ??= (await this.#log.readAll(0, 1))[0]?.id ?? null;
    const heard = this.#live;
    this.#live = [];
    const stored = await this.#history.after(after, runtimeLimits.pageEvents);
    const reached = stored.at(-1)?.position ?? after;
    // The log had by then what its relay has published: what it ends before is not its own.
    const stray = stored.length > 0 ? undefined : heard.find(({ event }) => event.position > after);
    if (stray !== undefined) this.#tell(stray, "is not in the log, which was asked instead");
    this.#live = [...(stored.length > 0 ? heard : []), ...this.#live]
      .filter(({ event }) => event.position > reached)
      .slice(-runtimeLimits.liveBufferEvents);
    return stored;
  }

  /** Throws LogRewound where the log does not have any more what was handed out last. */
  confirm(): Promise<void> {
    return this.#history.confirm();
  }

  /** The log's own event at a position; null when the log does not reach there. */
  async at(position: number): Promise<StoredEvent | null> {
    const [event] = await this.#log.readAll(position - 1, 1);
    return event?.position === position ? event : null;
  }

  /** Reads a page of the log, at most `limit` after a position, whatever was handed out. */
  page(after: number, limit: number): Promise<readonly StoredEvent[]> {
    return this.#log.readAll(after, limit);
  }

  /** Returns a history for another reader of the same log, which may begin anywhere. */
  history(): LogHistory {
    return new LogHistory(this.#log);
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

  /** The run of buffered events that follows the one that was read last, which must be the one at `after`. */
  #takeLive(after: number): readonly StoredEvent[] {
    const known = this.#history.known;
    if (known === null || known.position !== after || known.id === "") return [];
    const run: StoredEvent[] = [];
    const rest: Live[] = [];
    let last: { readonly position: number; readonly id: string } = known;
    for (const live of this.#live) {
      const { event, origin } = live;
      const follows = event.position === last.position + 1 && origin.previousId === last.id;
      if (follows && run.length < runtimeLimits.pageEvents) {
        run.push(event);
        last = event;
      } else if (event.position > after) rest.push(live);
    }
    this.#live = rest.filter(({ event }) => event.position > last.position);
    this.#history.passed(run);
    if (run.length > 0) this.#liveUntil = last.position;
    this.#handedOut(run);
    return run;
  }

  async #waitForMore(after: number, signal: AbortSignal): Promise<void> {
    // It may have aborted while the log was read; a listener that comes after would wait the silence out.
    if (signal.aborted || this.#nudged) return;
    if (this.#live.some(({ event }) => event.position > after)) return;
    const silence = this.#bus.connected() ? runtimeLimits.silentBusMs : runtimeLimits.absentBusMs;
    const woken = Promise.withResolvers<void>();
    const wake = (): void => woken.resolve();
    using _timer = this.#clock.timer(silence, wake);
    signal.addEventListener("abort", wake);
    this.#wake = wake;
    await woken.promise;
    this.#wake = () => {};
    signal.removeEventListener("abort", wake);
  }

  /** Says so, now and then: it may be every event of a busy cluster. */
  #tell({ event, origin }: Live, what: string): void {
    const nowMs = this.#clock.monotonicMs();
    if (this.#logger === null || nowMs - this.#toldMs < runtimeLimits.strayEventsToldMs) return;
    this.#toldMs = nowMs;
    const { position, id } = event;
    this.#logger.warn(
      { position, id, log: this.#name, logOfEvent: origin.log, detail: `event ${id} ${what}` },
      "live_event_ignored",
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}
