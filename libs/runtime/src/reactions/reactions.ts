/**
 * The reaction loop of one partition of one service: it reads the log in order, passes each event to its handler, and
 * commits the handler's decisions together with the cursor's move, so that no event is skipped or processed twice.
 *
 * Per event: no handler, or nothing decided → the cursor moves lazily. Decided → one append (several parts for a large
 * fan-out; optionally one append for several events of a backlog). A transient fault → the same event is retried after
 * a growing wait. A permanent fault, or a bug → the event is parked under its key, and later events of that key are
 * parked too. Three different keys parked in a row stop the loop: the fault is then probably the service's, and every
 * further event would be parked. The loop continues when an operator's retry of a parked event succeeds. A commit that
 * the log refuses as too large parks its event and does not count towards the three.
 */
import { decodeEvent, type EventData, type EventName, shortNameOf } from "@trainyard/contracts";
import { deriveCommitId, type EventLog, isFullPage, type StoredEvent } from "@trainyard/event-log";
import { assert, type Clock, Fault, idOf, isFault, pause, retrying } from "@trainyard/kernel";
import type { EventFeed } from "../history/event-feed.ts";
import {
  type CommitIdentity,
  CommitRefused,
  CursorBehind,
  type Executor,
} from "../work/executor.ts";
import { endsTerm } from "../work/ends-term.ts";
import { firstAbort } from "../first-abort.ts";
import { runtimeLimits } from "../limits.ts";
import type { Logger } from "../logging.ts";
import { type AnyHandler, ParkedRetries, reasonOf } from "./parked-retries.ts";
import { correlatedEvents, experimentKey, reactionMeta } from "../work/correlation.ts";
import type { Work } from "../work/work.ts";
import { noTracer, type Tracer } from "../tracing/tracer.ts";
import { reactionSpan } from "./reaction-span.ts";
import type { WorkMetrics } from "../telemetry/work-metrics.ts";

export type Reaction<Name extends EventName> = {
  readonly stored: StoredEvent;
  readonly data: EventData<Name>;
  /** The id in the stream's name: 12.3 for trial-12.3. */
  readonly id: string;
};

export type ReactionHandlers = {
  readonly [Name in EventName]?: (event: Reaction<Name>, work: Work) => Promise<void>;
};

export type ReactionSpec = {
  readonly service: string;
  readonly consumer: string;
  readonly partition: number;
  readonly handlers: ReactionHandlers;
  /**
   * Returns the key by which events are parked together. Default: the experiment in the stream's id, otherwise the
   * stream.
   */
  readonly keyOf?: (event: StoredEvent) => string;
  /** The maximum number of events with the same correlation id that one commit may process together. Default: 1. */
  readonly eventsTogetherMax?: number;
  /** Called after each processed event, even if it caused no commit. Must not throw. */
  readonly after?: (event: StoredEvent) => void;
};

export type ReactionDeps = {
  readonly log: EventLog;
  readonly feed: EventFeed;
  readonly executor: Executor;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tracer?: Tracer | undefined;
  readonly work?: Pick<WorkMetrics, "reacting">;
};

export class ReactionLoop {
  readonly #spec: ReactionSpec;
  readonly #deps: ReactionDeps;
  readonly #parkedKeys = new Set<string>();
  #position = 0;
  #part = 0;
  #durable = 0;
  #lastMoveMs = 0;
  #keysInARow: string[] = [];
  /** The number of next events to process singly, after a commit for several events has failed. */
  #oneByOne = 0;
  /** True if the outcome of the last commit is unknown. */
  #isOutcomeUnknown = false;
  readonly #retries: ParkedRetries;
  /** Aborted to end the wait for the next event: a retry was requested, or the loop must stop. */
  #waiting = new AbortController();

  constructor(spec: ReactionSpec, deps: ReactionDeps) {
    this.#spec = spec;
    this.#deps = deps;
    const { service, consumer, partition } = spec;
    const handlerOf = (event: StoredEvent) => this.#handlerOf(event);
    const durable = () => this.#durable;
    const onDone = (key: string) => void this.#parkedKeys.delete(key);
    const retries = { service, consumer, partition, handlerOf, durable, onDone };
    this.#retries = new ParkedRetries(retries, deps);
  }

  /** The last processed position. */
  get position(): number {
    return this.#position;
  }

  /** Runs until the signal aborts; throws LeaseLost, LogRewound, or a Fault `parked_in_a_row`. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#start();
    signal.addEventListener("abort", () => this.#waiting.abort(), { once: true });
    while (!signal.aborted) {
      await this.#serveRetries();
      if (signal.aborted) break;
      const events = await this.#deps.feed.next(this.#position, this.#waiting.signal);
      for (let at = 0; at < events.length && !signal.aborted; ) {
        const together = await this.#handleTogether(events, at);
        if (together === 0) await this.#handle(events[at] as StoredEvent, signal);
        at += Math.max(1, together);
        await this.#moveLazily(false);
      }
      if (!isFullPage(events, runtimeLimits.pageEvents)) await this.#moveLazily(false);
    }
    await this.#moveLazily(true).catch(() => {}); // Without this move, a few events are processed again.
  }

  async #start(): Promise<void> {
    const { consumer, partition } = this.#spec;
    const cursor = await this.#deps.log.cursor(consumer, partition);
    this.#position = cursor.position;
    this.#part = cursor.part;
    this.#durable = cursor.position;
    this.#parkedKeys.clear();
    for (const row of await this.#deps.log.parked(consumer)) {
      if (row.partition === partition) this.#parkedKeys.add(row.key);
    }
  }

  /**
   * Processes several events from index `at` on in one commit. Returns how many; 0 means that the next event must be
   * processed singly.
   */
  async #handleTogether(events: readonly StoredEvent[], at: number): Promise<number> {
    const most = this.#spec.eventsTogetherMax ?? 1;
    if (this.#oneByOne > 0) this.#oneByOne -= 1;
    if (most < 2 || this.#oneByOne > 0 || this.#part > 0) return 0;
    const together = correlatedEvents(events, at, most, (event) => ({
      handled: this.#handlerOf(event) !== undefined,
      stops: this.#isParked(event),
    }));
    if (together.length < 2) return 0;
    const { clock, executor, tracer } = this.#deps;
    const startMs = clock.nowMs();
    let span = reactionSpan(noTracer, []);
    try {
      const { done, committed } = await executor.reactTogether(
        together.map((event) => (work) => this.#step(event, work)),
        (count) => {
          const events = together.slice(0, count);
          const handled = events.filter((event) => this.#handlerOf(event) !== undefined);
          span = reactionSpan(tracer, handled, startMs);
          return this.#identityOf(events, span.traceparent);
        },
        (count) => this.#cursor(together[count - 1] as StoredEvent, "done"),
      );
      span.end();
      if (committed) this.#durable = (together[done - 1] as StoredEvent).position;
      for (const event of together.slice(0, done)) this.#done(event);
      this.#keysInARow = [];
      return done;
    } catch (error) {
      if (endsTerm(error)) throw error;
      span.end({ error });
      // Processing the events singly shows which one fails.
      this.#deps.logger.debug({ err: error, events: together.length }, "reacting_one_by_one");
      this.#oneByOne = together.length;
      this.#isOutcomeUnknown = true;
      return 0;
    }
  }

  async #step(event: StoredEvent, work: Work): Promise<void> {
    const handler = this.#handlerOf(event);
    if (handler === undefined) {
      this.#observe(event);
      return;
    }
    const { data } = decodeEvent(event);
    this.#deps.executor.cache.observe(event);
    const end = this.#deps.work?.reacting();
    await handler({ stored: event, data, id: idOf(event.stream) } as Reaction<EventName>, work);
    end?.();
  }

  async #handle(event: StoredEvent, signal: AbortSignal): Promise<void> {
    const handler = this.#handlerOf(event);
    if (handler === undefined) {
      this.#observe(event);
      this.#done(event);
      return;
    }
    let isOutcomeUnknown = this.#isOutcomeUnknown;
    this.#isOutcomeUnknown = false;
    const failed = async (error: unknown, waitMs: number) => {
      if (endsTerm(error)) throw error;
      if (!isFault(error) || error.retry === "never") {
        await this.#park(event, reasonOf(error), error);
        return "enough";
      }
      isOutcomeUnknown = true;
      if (error instanceof CursorBehind) return "at_once";
      const { position } = event;
      this.#deps.logger.warn({ err: error, position, waitMs }, "reaction_retried");
      return undefined;
    };
    const { clock } = this.#deps;
    await retrying({ policy: runtimeLimits.retry, clock, signal, failed }, async () => {
      // After a fault, it is unknown whether this event's parts were committed, and a part's number must never be used
      // twice. The log may also have lost the event meanwhile: then nothing may follow from it.
      if (isOutcomeUnknown) await this.#deps.feed.confirm();
      if (isOutcomeUnknown) await this.#start();
      if (this.#position < event.position) await this.#react(event);
      this.#done(event);
    });
  }

  #handlerOf(event: StoredEvent): AnyHandler | undefined {
    const handlers = this.#spec.handlers as Readonly<Record<string, AnyHandler | undefined>>;
    return handlers[shortNameOf(event.type)];
  }

  /** Updates the cached folds; an event that cannot be decoded matters only to its reaction. */
  #observe(event: StoredEvent): void {
    try {
      this.#deps.executor.cache.observe(event);
    } catch {
      this.#deps.executor.cache.forget(event.stream);
    }
  }

  async #react(event: StoredEvent): Promise<void> {
    if (this.#isParked(event)) {
      await this.#parkBehind(event);
      return;
    }
    const span = reactionSpan(this.#deps.tracer, [event]);
    try {
      const committed = await this.#deps.executor.react(
        (part) => this.#identity(event, part, span.traceparent),
        (part) => this.#cursor(event, part),
        (work) => this.#step(event, work),
        this.#part,
      );
      if (committed !== null) span.end();
      if (committed !== null) this.#durable = event.position;
    } catch (error) {
      span.end({ error });
      throw error;
    }
    this.#keysInARow = [];
  }

  /** Returns whether an earlier event with the same key is parked. */
  #isParked(event: StoredEvent): boolean {
    return this.#parkedKeys.size > 0 && this.#parkedKeys.has(this.#keyOf(event));
  }

  #keyOf(event: StoredEvent): string {
    return (this.#spec.keyOf ?? experimentKey)(event);
  }

  #identity(event: StoredEvent, part: number, traceparent?: string): CommitIdentity {
    const { service, consumer, partition } = this.#spec;
    const at = `${consumer}/${partition}/${event.position}/${part}`;
    const meta = reactionMeta(service, event, traceparent);
    return { commitId: deriveCommitId("reaction", at), meta };
  }

  /** Returns the identity of a commit for several events: that of the last event with a handler. */
  #identityOf(events: readonly StoredEvent[], traceparent: string): CommitIdentity {
    const { service, consumer, partition } = this.#spec;
    const cause = events.findLast((event) => this.#handlerOf(event) !== undefined);
    assert(cause !== undefined, "a commit has a cause");
    const at = `${consumer}/${partition}/${events[0]?.position}-${events.at(-1)?.position}`;
    const meta = reactionMeta(service, cause, traceparent);
    return { commitId: deriveCommitId("reactions", at), meta };
  }

  #cursor(event: StoredEvent, part: number | "done") {
    const { consumer, partition } = this.#spec;
    return part === "done"
      ? { consumer, partition, position: event.position, part: 0 }
      : { consumer, partition, position: event.position - 1, part };
  }

  #done(event: StoredEvent): void {
    if (event.position > this.#position) {
      this.#position = event.position;
      this.#part = 0;
    }
    this.#spec.after?.(event);
  }

  async #park(event: StoredEvent, reason: string, error: unknown): Promise<void> {
    const key = this.#keyOf(event);
    this.#deps.logger.error(
      { err: error, position: event.position, type: event.type, key },
      "event_parked",
    );
    await this.#writePark(event, key, reason);
    this.#parkedKeys.add(key);
    // A refusal by the log concerns only this experiment, so it does not count towards stopping the loop.
    if (error instanceof CommitRefused && error.code !== "not_owner") return;
    if (!this.#keysInARow.includes(key)) this.#keysInARow.push(key);
    if (this.#keysInARow.length >= runtimeLimits.parkedKeysInARowMax) {
      throw new Fault(
        "parked_in_a_row",
        `events of ${this.#keysInARow.join(", ")} could not be processed one after the other`,
        {
          retry: "never",
          cause: error,
        },
      );
    }
  }

  async #parkBehind(event: StoredEvent): Promise<void> {
    this.#observe(event);
    await this.#writePark(event, this.#keyOf(event), "parked behind an earlier event");
  }

  async #writePark(event: StoredEvent, key: string, reason: string): Promise<void> {
    await this.#deps.executor.moveCursor(this.#identity(event, 0), {
      ...this.#cursor(event, "done"),
      park: [{ position: event.position, key, reason }],
    });
    this.#durable = event.position;
    this.#done(event);
  }

  async #moveLazily(now: boolean): Promise<void> {
    const behind = this.#position - this.#durable;
    const nowMs = this.#deps.clock.monotonicMs();
    const due =
      behind >= runtimeLimits.lazyCursorEvents ||
      nowMs - this.#lastMoveMs >= runtimeLimits.lazyCursorMs;
    if (behind === 0 || !(due || now)) return;
    this.#lastMoveMs = nowMs;
    const { consumer, partition } = this.#spec;
    const move = { consumer, partition, position: this.#position, part: 0 };
    try {
      await this.#deps.log.moveCursor(move, this.#deps.executor.fence);
      this.#durable = move.position;
    } catch (error) {
      if (endsTerm(error)) throw error;
      // Processing these events again is harmless, and the next move includes this one.
      this.#deps.logger.debug({ err: error }, "lazy_cursor_move_failed");
    }
  }

  /**
   * Retries the parked events of one key, in order, between two events of the loop. Resolves with the reason with which
   * the first of them failed again, or null.
   */
  retryParked(key: string): Promise<string | null> {
    const answer = this.#retries.ask(key);
    this.#waiting.abort();
    return answer;
  }

  /** Serves only retries, for a loop that has stopped itself, until one succeeds (true) or the signal aborts. */
  async untilRetried(signal: AbortSignal): Promise<boolean> {
    await this.#start();
    while (!signal.aborted) {
      if (await this.#serveRetries()) return true;
      await pause(this.#deps.clock, 0x7fffffff, firstAbort(this.#waiting.signal, signal));
    }
    return false;
  }

  async #serveRetries(): Promise<boolean> {
    if (this.#waiting.signal.aborted) this.#waiting = new AbortController();
    const { mended, failed } = await this.#retries.serve();
    // A failed write may still have been committed: the key may have no parked events left.
    if (failed) this.#isOutcomeUnknown = true;
    return mended;
  }
}
