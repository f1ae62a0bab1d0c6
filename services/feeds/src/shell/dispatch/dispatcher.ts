/**
 * Gives each active subscription, and each sink of the operator, the events that it selects: one loop for each, so that
 * a slow one delays only itself.
 */
import type { EventLog } from "@trainyard/event-log";
import { Backoff, type Clock, Fault, isRejection, pause } from "@trainyard/kernel";
import {
  checkedPlace,
  type EventPlace,
  type LeavingEvent,
  logBeginning,
  type RecentEvents,
  readFilter,
} from "@trainyard/outbound";
import { endsTerm, type Logger, type Loop } from "@trainyard/runtime";
import { subjectOf } from "../../core/triggers.ts";
import { feedsLimits } from "../../limits.ts";
import type { DeliveryRoom } from "./delivery-room.ts";
import type { Telemetry } from "../../telemetry.ts";
import type { Facts, Subscription, SubscriptionsView } from "../view/subscriptions-view.ts";
import type { Progress } from "./progress.ts";
import type { Readers } from "./readers.ts";
import { factsNeeded, selectedBy } from "./selected.ts";
import type { OpenSink } from "./sink.ts";

export type Rooms = Readonly<Record<"nats" | "webhook", DeliveryRoom>>;

/** A sink that the operator has set up: it gets the whole log from its first event. */
export type OperatorSink = { readonly name: string; readonly open: OpenSink };

export type DispatchDeps = {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly telemetry: Pick<Telemetry, "handed" | "failed">;
  readonly subscriptions: SubscriptionsView;
  readonly readers: Pick<Readers, "mayRead" | "observed">;
  readonly recent: RecentEvents;
  readonly progress: Progress;
  readonly rooms: Rooms;
  readonly operatorSinks: readonly OperatorSink[];
};

/** The subscription, or the sink of the operator, of one loop. */
type Target = {
  readonly name: string;
  readonly life: number;
  readonly from: EventPlace;
  readonly open: OpenSink;
  /** Null for a sink of the operator, which gets all events. */
  readonly subscription: Subscription | null;
};

type Running = {
  readonly key: string;
  readonly stop: AbortController;
  readonly done: Promise<void>;
};

const deliveryOf = ({ name, subscription }: Target): string => subscription?.delivery ?? name;

export class Dispatcher implements Loop {
  readonly #deps: DispatchDeps;
  readonly #running = new Map<string, Running>();
  #woken = Promise.withResolvers<void>();
  #failed = Promise.withResolvers<never>();

  constructor(deps: DispatchDeps) {
    this.#deps = deps;
  }

  /** Looks again at the subscriptions: one has begun, changed or ended. */
  wake(): void {
    this.#woken.resolve();
  }

  async run(signal: AbortSignal): Promise<void> {
    const aborted = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => aborted.resolve(), { once: true });
    this.#failed = Promise.withResolvers();
    this.#failed.promise.catch(() => {});
    try {
      await using _sinks = { [Symbol.asyncDispose]: () => this.#stopAll() };
      for (const sink of this.#deps.operatorSinks) this.#start(await this.#operated(sink), signal);
      while (!signal.aborted) {
        this.#woken = Promise.withResolvers();
        await this.#adjust(signal);
        await Promise.race([this.#woken.promise, aborted.promise, this.#failed.promise]);
      }
    } finally {
      await this.#deps.progress.flush().catch(() => {});
    }
  }

  /** Starts the loops of subscriptions that need one, and ends those of changed and ended ones. */
  async #adjust(signal: AbortSignal): Promise<void> {
    const active = (await this.#deps.subscriptions.list()).filter(
      ({ delivery, stopped, disabled }) =>
        delivery !== "pull" && stopped === null && disabled === null,
    );
    const wanted = new Map(active.map((one) => [one.name, JSON.stringify(one)]));
    const operated = new Set(this.#deps.operatorSinks.map(({ name }) => name));
    for (const [name, running] of [...this.#running]) {
      if (operated.has(name) || wanted.get(name) === running.key) continue;
      running.stop.abort();
      await running.done;
      this.#running.delete(name);
    }
    for (const one of active) {
      if (this.#running.has(one.name)) continue;
      const { open } = this.#deps.rooms[one.delivery as keyof Rooms];
      const { name, life } = one;
      const from = await placeOf(this.#deps, one);
      this.#start({ name, life, from, open, subscription: one }, signal);
    }
  }

  async #operated({ name, open }: OperatorSink): Promise<Target> {
    const { log, progress } = this.#deps;
    const row = (await progress.rows([name])).get(name);
    const from = await checkedPlace(log, row ?? logBeginning);
    return {
      name,
      life: 0,
      open,
      subscription: null,
      from: isRejection(from) ? logBeginning : from,
    };
  }

  #start(target: Target, outer: AbortSignal): void {
    const stop = new AbortController();
    const signal = AbortSignal.any([outer, stop.signal]);
    const done = this.#keepFeeding(target, signal).catch((error: unknown) => {
      this.#failed.reject(error);
    });
    const key = target.subscription === null ? "" : JSON.stringify(target.subscription);
    this.#running.set(target.name, { key, stop, done });
  }

  async #stopAll(): Promise<void> {
    for (const { stop } of this.#running.values()) stop.abort();
    await Promise.all([...this.#running.values()].map(({ done }) => done));
    this.#running.clear();
  }

  /** Feeds a sink until the signal aborts; opens it again after it failed. Throws what ends the term. */
  async #keepFeeding(target: Target, signal: AbortSignal): Promise<void> {
    const { clock, logger, progress } = this.#deps;
    let { from } = target;
    let backoff = new Backoff(feedsLimits.sinkRetry, clock, signal);
    const settled = (place: EventPlace): void => {
      if (place.position <= from.position) return;
      from = place;
      progress.settled(target, place);
      backoff = new Backoff(feedsLimits.sinkRetry, clock, signal);
    };
    await retried(
      signal,
      () => progress.begin(target, from),
      () => pause(clock, 1_000, signal),
    );
    while (!signal.aborted) {
      try {
        await this.#feed({ ...target, from }, settled, signal);
      } catch (error) {
        if (endsTerm(error)) throw error;
        if (signal.aborted) return;
        this.#deps.telemetry.failed(deliveryOf(target));
        logger.warn({ err: error, subscription: target.name }, "sink_failed");
        progress.failed(target, error instanceof Error ? error.message : String(error));
        await backoff.wait();
      }
    }
  }

  async #feed(
    target: Target,
    settled: (place: EventPlace) => void,
    outer: AbortSignal,
  ): Promise<void> {
    const { recent, progress, telemetry } = this.#deps;
    const { name, subscription } = target;
    const ending = new AbortController();
    const signal = AbortSignal.any([outer, ending.signal]);
    const failed = (sentence: string | null): void => progress.failed(target, sentence);
    await using sink = await target.open({ name, from: target.from, signal, settled, failed });
    try {
      let after = target.from.position;
      while (!signal.aborted) {
        const read = await recent.after(after, signal);
        const last = read.at(-1)?.stored;
        if (last === undefined) return;
        const events = subscription === null ? read : await this.#selected(subscription, read);
        await sink.take({ events, upTo: { position: last.position, event: last.id } });
        telemetry.handed(deliveryOf(target), events.length);
        after = last.position;
      }
    } finally {
      ending.abort();
    }
  }

  async #selected(
    subscription: Subscription,
    events: readonly LeavingEvent[],
  ): Promise<readonly LeavingEvent[]> {
    const filter = readFilter(subscription.filter);
    // A filter that a newer version has stored may name a type that this one does not know.
    if (isRejection(filter)) throw new Fault(filter.rejected, filter.detail, { retry: "later" });
    const { subscriptions, readers } = this.#deps;
    const facts = factsNeeded(subscription, filter)
      ? await this.#factsOf(subscriptions, events)
      : new Map<string, Facts>();
    readers.observed(events);
    const selected = events.filter((event) => selectedBy(subscription, filter, event, facts));
    return selected.filter(await readers.mayRead(subscription, selected));
  }

  /** Returns the facts of the experiments of some events, as of the last of them or later. */
  async #factsOf(
    subscriptions: SubscriptionsView,
    events: readonly LeavingEvent[],
  ): Promise<ReadonlyMap<string, Facts>> {
    await subscriptions.view.reach(events.at(-1)?.stored.position ?? 0);
    return subscriptions.facts([...new Set(events.map(subjectOf))]);
  }
}

/**
 * Returns the place after which a subscription continues. If the log does not have the stored one, since only the rows
 * were restored, the events come again from the subscription's beginning.
 */
export async function placeOf(
  { log, progress }: Pick<DispatchDeps, "log"> & { readonly progress: Pick<Progress, "rows"> },
  { name, life, after }: Pick<Subscription, "name" | "life" | "after">,
): Promise<EventPlace> {
  const row = (await progress.rows([name])).get(name);
  const begun = { position: after, event: "" };
  const found = await checkedPlace(log, row?.life === life ? row : begun);
  if (!isRejection(found)) return found;
  const begins = await checkedPlace(log, begun);
  return isRejection(begins) ? logBeginning : begins;
}

async function retried(
  signal: AbortSignal,
  act: () => Promise<void>,
  rest: () => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    try {
      return await act();
    } catch (error) {
      if (endsTerm(error)) throw error;
      await rest();
    }
  }
}
