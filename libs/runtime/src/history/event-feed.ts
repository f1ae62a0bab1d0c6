/**
 * The log's events in position order, without gaps. They come live from the bus; when the next position is missing or
 * the bus is silent, they are read from the log. Readers wake within a millisecond of a publish; without the bus they
 * poll.
 *
 * A live event counts only if its previous event's id is the last event that was read. So events of another log on the
 * same NATS account, and events that a failover lost, are never delivered. All other events are read from the log,
 * which is checked for a rewind (`LogRewound`). A reader that is level with the bus waits for the bus first: a missed
 * event is detected by the next event, or by silence.
 */
import type { Bus, EventOrigin } from "@trainyard/bus";
import { bytesOfEvents, type EventLog, firstPage, type StoredEvent } from "@trainyard/event-log";
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
  /** The id of the log's first event, which identifies the log; null while unknown or if the log is empty. */
  #name: string | null = null;
  #epoch = "";
  /** The position of the last live event; 0 after a read of the log. */
  #liveUntil = 0;
  #live: Live[] = [];
  #liveBytes = 0;
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
   * The logger reports events on the bus that belong to another log. `handedOut` is called with live events before they
   * are delivered.
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
      // The relay has begun a new epoch, perhaps after a rewind: a read of the log shows it.
      this.#epoch = origin.epoch;
      this.#nudged = true;
    } else if (event.position <= (this.#history.known?.position ?? 0)) {
      return;
    }
    this.#live.push(live);
    this.#liveBytes += Buffer.byteLength(event.body);
    this.#dropOldest();
    this.#wake();
  }

  /** On overflow the oldest event is dropped: the log has it, and the gap makes the reader read the log. */
  #dropOldest(): void {
    const { liveBufferBytes, liveBufferEvents } = runtimeLimits;
    while (this.#live.length > liveBufferEvents || this.#liveBytes > liveBufferBytes) {
      this.#liveBytes -= Buffer.byteLength(this.#live.shift()?.event.body ?? "");
    }
  }

  #keep(live: Live[]): void {
    this.#live = live;
    this.#liveBytes = bytesOfEvents(live.map(({ event }) => event));
    this.#dropOldest();
  }

  /**
   * Returns the next events after a position, at least one; an empty list only when the signal aborts. Throws
   * LogRewound, once, if the log lost events that were read before.
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
    this.#keep([]);
    const stored = await this.#history.after(after, runtimeLimits.pageEvents);
    const reached = stored.at(-1)?.position ?? after;
    // An event beyond the log's end is another log's: the relay publishes only events that the log has.
    const stray = stored.length > 0 ? undefined : heard.find(({ event }) => event.position > after);
    if (stray !== undefined) this.#tell(stray, "is not in the log, which was asked instead");
    const live = [...(stored.length > 0 ? heard : []), ...this.#live];
    this.#keep(live.filter(({ event }) => event.position > reached));
    return stored;
  }

  /** Throws LogRewound if the log lost the event that was delivered last. */
  confirm(): Promise<void> {
    return this.#history.confirm();
  }

  /** Returns the log's event at a position; null beyond the log's end. */
  async at(position: number): Promise<StoredEvent | null> {
    const [event] = await this.#log.readAll(position - 1, 1);
    return event?.position === position ? event : null;
  }

  /** Reads at most `limit` events after a position, independently of the delivered ones. */
  page(after: number, limit: number): Promise<readonly StoredEvent[]> {
    return this.#log.readAll(after, limit);
  }

  /** Returns a history for another reader of the same log, which may begin at any position. */
  history(): LogHistory {
    return new LogHistory(this.#log);
  }

  /** Returns the last position of the log. */
  head(): Promise<number> {
    return this.#log.head();
  }

  /** Makes readers read the log at once, because a caller waits for a new commit. */
  nudge(): void {
    this.#nudged = true;
    this.#wake();
  }

  /** Returns the buffered events that follow the last read event, which must be at `after`. */
  #takeLive(after: number): readonly StoredEvent[] {
    const known = this.#history.known;
    if (known === null || known.position !== after || known.id === "") return [];
    const following: StoredEvent[] = [];
    let last: { readonly position: number; readonly id: string } = known;
    for (const { event, origin } of this.#live) {
      if (event.position !== last.position + 1 || origin.previousId !== last.id) continue;
      following.push(event);
      last = event;
    }
    const run = firstPage(following, runtimeLimits.pageEvents);
    const reached = run.at(-1)?.position ?? after;
    this.#keep(this.#live.filter(({ event }) => event.position > reached));
    this.#history.passed(run);
    if (run.length > 0) this.#liveUntil = reached;
    this.#handedOut(run);
    return run;
  }

  async #waitForMore(after: number, signal: AbortSignal): Promise<void> {
    // The signal may have aborted during the read of the log; a later listener would miss it and wait until the bus is
    // silent.
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

  /** Logs an event of another log, with a limited rate because a busy cluster may send many. */
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
