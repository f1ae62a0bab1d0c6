/**
 * The relay while it holds the lease: reads the log in order and publishes it, page after page.
 *
 *   starting ──where the stream ends──► tailing ──any failure──► waiting ──► starting
 *
 * Reading runs ahead of publishing: the next page is read while the bus publishes the ones before it, up to a limit.
 * Pages are published in order, and the bus chains them, so a failure of one page fails all later ones. Then all
 * running publishes are dropped, and the end of the stream says where to continue. A second relay, after a lease that
 * was lost unnoticed, can therefore neither reorder nor repeat events: the bus refuses the later of two publishes, and
 * that relay starts again.
 *
 * A rewind of the log also ends the tailing; the next start detects it by the end of the stream.
 */
import type { Bus } from "@trainyard/bus";
import { bytesOfEvents, type EventLog, newEventId, type StoredEvent } from "@trainyard/event-log";
import { type Clock, Fault, retrying } from "@trainyard/kernel";
import {
  eventAt,
  firstAbort,
  type KnownEvent,
  LogHistory,
  noTracer,
  runtimeLimits,
  type Span,
  type Tracer,
} from "@trainyard/runtime";
import { refillAfter, whereToStart } from "../core/start.ts";
import type { Telemetry } from "../telemetry.ts";
import { relayLimits } from "../limits.ts";

export type RelayDeps = {
  readonly log: EventLog;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly events: Telemetry;
  readonly tracer?: Tracer;
  /** Reports a lost event to the registry, which holds deletions. Throws a Fault if the registry does not answer. */
  readonly reportRewind: (lost: KnownEvent) => Promise<void>;
  /** Called with the position up to which the stream has the log. */
  readonly reached?: (position: number) => void;
};

/** The position after which tailing begins, and the epoch with which it continues. */
type Begin = { readonly after: number; readonly epoch: string };

/** Publishes the log until the signal aborts; never throws. */
export async function relay(deps: RelayDeps, signal: AbortSignal): Promise<void> {
  const { clock, events } = deps;
  const failed = (error: unknown, waitMs: number): void => events.failed(error, waitMs);
  const retry = { policy: runtimeLimits.retry, clock, signal, failed };
  while (!signal.aborted) {
    await retrying(retry, async (progressed) =>
      tail(deps, await whereToBegin(deps), signal, progressed),
    );
  }
}

async function whereToBegin({ log, bus, clock, events, reportRewind }: RelayDeps): Promise<Begin> {
  const last = await bus.lastEvent();
  const first = await idAt(log, 1);
  const atLast = last === null ? null : await idAt(log, last.position);
  const start = whereToStart(last, { first, atLast });
  if (start.kind === "resume") {
    events.resumed(start.after);
    return { after: start.after, epoch: last?.epoch || newEventId() };
  }
  if (start.kind === "rewound") {
    // The stream may be the only evidence of the rewind, so it is kept until deletions are held.
    if (last !== null && start.isThisLog) await reportRewind(last);
    events.rewound(start.detail);
    await bus.clearEvents();
  }
  const head = await log.head();
  const oldestMs = clock.nowMs() - relayLimits.refillAgeMs;
  const timeAt = (position: number): Promise<number> => timeOf(log, position);
  const after = await refillAfter(head, relayLimits.refillEventsMax, oldestMs, timeAt);
  const epoch = newEventId();
  events.refilling(after, head, epoch);
  return { after, epoch };
}

async function idAt(log: EventLog, position: number): Promise<string | null> {
  return (await eventAt(log, position))?.id ?? null;
}

async function timeOf(log: EventLog, position: number): Promise<number> {
  const [event] = await log.readAll(position - 1, 1);
  if (event !== undefined) return event.timeMs;
  throw new Fault("log_shrank", `the log has no event ${position} any more`, { retry: "later" });
}

async function tail(
  deps: RelayDeps,
  { after, epoch }: Begin,
  signal: AbortSignal,
  onProgress: () => void,
): Promise<void> {
  const { log, bus, clock, events, reached = () => {} } = deps;
  reached(after);
  const stop = new AbortController();
  // At the end the listeners on the relay's signal are removed.
  using _over = { [Symbol.dispose]: () => stop.abort() };
  const stopped = firstAbort(signal, stop.signal);
  const bell = new Bell(clock, stopped);
  const ahead = new Ahead(stopped);
  const failures: unknown[] = [];
  const history = new LogHistory(log);
  let first = await idAt(log, 1);
  const publish = async (page: readonly StoredEvent[], last: StoredEvent): Promise<void> => {
    const spans = spansOf(page, deps.tracer);
    try {
      await bus.publishEvents(page, { log: first ?? "", epoch });
      for (const span of spans) span.end();
      events.published(page.length, last.position);
      reached(last.position);
      onProgress();
    } catch (error) {
      for (const span of spans) span.end({ error });
      failures.push(error);
      stop.abort();
    }
  };
  // After a reconnect the server may have lost its data, so the stream's end is read again.
  using _link = bus.onConnection(() => stop.abort());
  await using _hint = await log.onAppended(() => bell.ring());
  const publishing = new Set<Promise<void>>();
  let position = after;
  try {
    while (!stopped.aborted) {
      bell.silence();
      const page = await history.after(position, relayLimits.pageEvents);
      if (position === 0) first = page[0]?.id ?? null;
      const last = page.at(-1);
      if (last === undefined) {
        await bell.heard();
        continue;
      }
      position = last.position;
      ahead.add(page);
      const published = publish(page, last).then(() => {
        publishing.delete(published);
        ahead.remove(page);
      });
      publishing.add(published);
      await ahead.room();
      // Each later commit rings the bell.
      if (history.isAtEnd) await bell.heard();
    }
  } finally {
    // All running publishes end before the stream's end is read again.
    await Promise.all(publishing);
  }
  if (failures.length > 0) throw failures[0];
}

/** Begins a span for each event, under its append. */
function spansOf(page: readonly StoredEvent[], tracer: Tracer = noTracer): readonly Span[] {
  if (!tracer.isOn) return [];
  return page.map(({ position, meta }) => {
    const attributes = { "messaging.system": "nats", "trainyard.position": position };
    return tracer.under("publish", meta.traceparent, { kind: "producer", attributes });
  });
}

/** Waits for a ring. A ring without a waiter is kept until the bell is silenced. */
class Bell {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #rang = false;
  #wake: () => void = () => {};

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
    signal.addEventListener("abort", () => this.ring(), { once: true });
  }

  ring(): void {
    this.#rang = true;
    this.#wake();
  }

  silence(): void {
    this.#rang = false;
  }

  /** Resolves at a ring, or after the polling interval. */
  async heard(): Promise<void> {
    if (this.#rang || this.#signal.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = this.#clock.timer(relayLimits.pollMs, resolve);
      this.#wake = () => {
        timer[Symbol.dispose]();
        resolve();
      };
    });
    this.#wake = () => {};
  }
}

/** Counts the events that are being published and their bytes, and blocks the reader at the limits. */
class Ahead {
  readonly #signal: AbortSignal;
  #events = 0;
  #bytes = 0;
  #wake: () => void = () => {};

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#wake(), { once: true });
  }

  add(page: readonly StoredEvent[]): void {
    this.#events += page.length;
    this.#bytes += bytesOfEvents(page);
  }

  remove(page: readonly StoredEvent[]): void {
    this.#events -= page.length;
    this.#bytes -= bytesOfEvents(page);
    this.#wake();
  }

  get #isFull(): boolean {
    const { eventsAheadMax, bytesAheadMax } = relayLimits;
    return this.#events >= eventsAheadMax || this.#bytes >= bytesAheadMax;
  }

  async room(): Promise<void> {
    while (this.#isFull && !this.#signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
