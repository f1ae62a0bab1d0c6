/**
 * Acts for each key at its time: waits, graces and budgets that follow from the log. One failing key stops no other.
 *
 * Times are by the log's clock, which differs from every host's and may jump. When this process learns a time, the rest
 * of it is the difference to the newest event's time, and that rest is counted on the monotonic clock. A new leader
 * cannot know how much time has passed since the newest event, so an action may be late by its whole wait, but it is
 * never early.
 *
 * An action that fails with a transient fault is retried, after the actions of the other keys. An action that fails
 * otherwise is parked like a reaction: listed with its reason under its experiment, and left alone until an operator
 * retries it. Later reactions to the experiment's events are not parked behind it, because an action depends only on
 * the latest state. A parked row is bound to the event that the action follows from. So a newer event of the key gets
 * an action of its own.
 */
import { type EventLog, newEventId, type Park, type ParkedRow } from "@trainyard/event-log";
import { type Clock, parseTrialId } from "@trainyard/kernel";
import type { Logger } from "../logging.ts";
import { runtimeLimits } from "../limits.ts";
import { noTracer, type Tracer } from "../tracing/tracer.ts";
import { serviceMeta } from "../work/correlation.ts";
import { endsTerm, isTransient } from "../work/ends-term.ts";
import type { Executor } from "../work/executor.ts";
import { EffectLoop } from "./effect-loop.ts";
import { duringEffect, type EffectSpan } from "./effect-span.ts";
import { reasonOf } from "./parked-retries.ts";

/** The first partition in which loops park; the reactions of a service park in the partitions before it. */
const firstLane = 1_000;

export type DueSpec = {
  /** The name of the loop in messages and in the reasons of parked actions. */
  readonly name: string;
  readonly service: string;
  /** Tells the loops of a service apart: an event may be parked once by each. */
  readonly lane: number;
  /**
   * Acts for a key, after which a repeat must be harmless. `reachedMs` is the time that was reached; 0 if only an event
   * asked for the action. Returns the next time by the log's clock, 0 for at once; null for none until the next event.
   * Its commits name the span.
   */
  readonly act: (key: string, reachedMs: number, during: Acting) => Promise<number | null>;
  /** Returns the position of the event that the key's action follows from. */
  readonly causeOf: (key: string) => number;
};

export type Acting = { readonly signal: AbortSignal; readonly span: EffectSpan };

export type DueDeps = {
  readonly log: EventLog;
  readonly executor: Executor;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Counts a parked action. */
  readonly onParked: () => void;
};

/** A key's time: `dueMs` is by the log's clock, `atMs` by the monotonic clock. */
type Turn = { dueMs: number; atMs: number; isOver: boolean; isAsked: boolean };

export class DueLoop {
  readonly #spec: DueSpec;
  readonly #deps: DueDeps;
  readonly #loop: EffectLoop;
  /** In the order of their turns. */
  readonly #turns = new Map<string, Turn>();
  /** The positions at which actions are parked; null until they were read. */
  #parked: Set<number> | null = null;
  /** The time of the newest event, by the log's clock. */
  #timeMs = 0;
  #acting = 0;
  #tracer = noTracer;

  constructor(spec: DueSpec, deps: DueDeps) {
    this.#spec = spec;
    this.#deps = deps;
    const policy = runtimeLimits.retry;
    this.#loop = new EffectLoop(spec.name, deps, (signal) => this.#step(signal), policy);
  }

  /** Runs until the signal aborts. Throws errors that end the term. */
  run(signal: AbortSignal, tracer: Tracer = noTracer): Promise<void> {
    // Each action is a span, and not the look at all keys.
    this.#tracer = tracer;
    return this.#loop.run(signal);
  }

  /** Advances the time of the newest event. Called with each event, before the methods below. */
  passed(timeMs: number): void {
    this.#timeMs = Math.max(this.#timeMs, timeMs);
  }

  /** Returns the time in so many milliseconds, as `act` returns it. */
  inMs(ms: number): number {
    return this.#timeMs + ms;
  }

  /** Sets the time of a key's action. */
  set(key: string, dueMs: number): void {
    const turn = this.#turns.get(key);
    if (turn?.dueMs === dueMs) return;
    this.#turns.set(key, { ...this.#timed(dueMs), isOver: false, isAsked: false });
    this.#loop.wake();
  }

  /** Asks for an action at once. The key's time stays as it is. */
  ask(key: string): void {
    const turn = this.#turns.get(key);
    if (turn === undefined) {
      this.#turns.set(key, { dueMs: 0, atMs: 0, isOver: true, isAsked: true });
    } else turn.isAsked = true;
    this.#loop.wake();
  }

  delete(key: string): void {
    this.#turns.delete(key);
  }

  /** Whether a time of the key was reached, also if its action has failed. */
  isOver(key: string, dueMs: number): boolean {
    const turn = this.#turns.get(key);
    return turn?.dueMs === dueMs && this.#deps.clock.monotonicMs() >= turn.atMs;
  }

  /** Whether an action runs or is due. */
  get isBusy(): boolean {
    return this.#acting > 0 || [...this.#turns].some(([key, turn]) => this.#isDue(key, turn));
  }

  get #partition(): number {
    return firstLane + this.#spec.lane;
  }

  #timed(dueMs: number) {
    return { dueMs, atMs: this.#deps.clock.monotonicMs() + Math.max(0, dueMs - this.#timeMs) };
  }

  #isDue(key: string, { atMs, isOver, isAsked }: Turn): boolean {
    const isTime = isAsked || (!isOver && atMs <= this.#deps.clock.monotonicMs());
    return isTime && this.#parked?.has(this.#spec.causeOf(key)) !== true;
  }

  async #step(signal: AbortSignal): Promise<number | null> {
    this.#parked ??= new Set((await this.#rows()).map(({ position }) => position));
    for (const [key, turn] of [...this.#turns]) {
      if (signal.aborted) return null;
      if (this.#turns.get(key) === turn && this.#isDue(key, turn))
        await this.#take(key, turn, signal);
    }
    return this.#nextMs();
  }

  #nextMs(): number | null {
    let nextMs = Number.POSITIVE_INFINITY;
    for (const [key, turn] of this.#turns) {
      if (this.#isDue(key, turn)) return 0;
      if (!turn.isOver && !this.#parked?.has(this.#spec.causeOf(key))) {
        nextMs = Math.min(nextMs, turn.atMs);
      }
    }
    return Number.isFinite(nextMs) ? nextMs - this.#deps.clock.monotonicMs() : null;
  }

  async #take(key: string, turn: Turn, signal: AbortSignal): Promise<void> {
    try {
      await this.#act(key, turn, signal);
    } catch (error) {
      if (endsTerm(error)) throw error;
      if (!isTransient(error)) {
        // If an event has cancelled or replaced the action meanwhile, there is nothing to park.
        if (this.#turns.get(key) === turn) await this.#park(key, error);
        return;
      }
      // The other keys have their turn before the retry.
      if (this.#turns.get(key) === turn) {
        this.#turns.delete(key);
        this.#turns.set(key, turn);
      }
      throw error;
    }
  }

  async #act(key: string, turn: Turn, signal: AbortSignal): Promise<void> {
    turn.isAsked = false;
    const isReached = turn.atMs <= this.#deps.clock.monotonicMs();
    this.#acting += 1;
    const { act, name, causeOf } = this.#spec;
    const attributes = { "trainyard.key": key, "trainyard.position": causeOf(key) };
    const deps = { tracer: this.#tracer, clock: this.#deps.clock };
    const acting = duringEffect(deps, { name, attributes }, (span) =>
      act(key, isReached ? turn.dueMs : 0, { signal, span }),
    );
    const dueMs = await acting
      .catch((error: unknown) => {
        turn.isAsked = true;
        throw error;
      })
      .finally(() => {
        this.#acting -= 1;
      });
    if (dueMs === null) turn.isOver = true;
    else if (dueMs === 0) turn.isAsked = true;
    // A time that was learned before and is not reached still counts from then.
    else if (isReached || dueMs !== turn.dueMs) {
      Object.assign(turn, this.#timed(dueMs), { isOver: false });
    }
  }

  async #park(key: string, error: unknown): Promise<void> {
    const { name, causeOf } = this.#spec;
    const position = causeOf(key);
    const reason = `${name}: ${reasonOf(error)}`;
    this.#deps.logger.error({ err: error, effect: name, key, position }, "action_parked");
    await this.#write([position], [{ position, key: experimentOf(key), reason }]);
    this.#parked?.add(position);
    this.#deps.onParked();
  }

  /**
   * Retries the parked actions of an experiment at an operator's request. Resolves with the reason with which the first
   * of them failed again, or null. The row of an action that a newer event has replaced is only deleted.
   */
  async retryParked(experiment: string): Promise<string | null> {
    const { name, causeOf } = this.#spec;
    const { signal } = new AbortController();
    for (const { position, key: of } of await this.#rows()) {
      if (of !== experiment) continue;
      const found = [...this.#turns].find(([key]) => causeOf(key) === position);
      try {
        if (found !== undefined) await this.#act(...found, signal);
      } catch (error) {
        if (endsTerm(error)) throw error;
        return `${name}: ${reasonOf(error)}`;
      }
      await this.#write([position], []);
      this.#parked?.delete(position);
    }
    this.#loop.wake();
    return null;
  }

  async #rows(): Promise<readonly ParkedRow[]> {
    const rows = await this.#deps.log.parked(this.#spec.service);
    return rows.filter(({ partition }) => partition === this.#partition);
  }

  /** A commit that deletes a row need not move the cursor, and a loop has none. */
  async #write(unpark: readonly number[], park: readonly Park[]): Promise<void> {
    const { service: consumer } = this.#spec;
    const identity = { commitId: newEventId(), meta: serviceMeta(consumer) };
    const none = { consumer, partition: this.#partition, position: 0, part: 0 };
    await this.#deps.executor.moveCursor(identity, { ...none, park, unpark });
  }
}

/** Returns the experiment of a trial, and of a search, which has its number. */
function experimentOf(key: string): string {
  return parseTrialId(key)?.experiment ?? key;
}
