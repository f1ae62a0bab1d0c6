/**
 * Random histories of one experiment, judged by the service's reactions over a log in memory. An oracle beside them
 * knows no events: it keeps plain tables and counts. Each condemnation is checked when it happens: nothing may hold or
 * keep the checkpoint. At the end every checkpoint that nothing holds or keeps must be condemned. With crashes, the
 * process dies before or after a commit and restarts from the log.
 */

import { type AnyEvent, decodeEvent, encodeEvent } from "@trainyard/contracts";
import { type EventLog, newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { categoryOf, idOf, streamName } from "@trainyard/kernel";
import { Executor, emptyMeta, FoldCache, type ReactionHandlers } from "@trainyard/runtime";
import { ManualClock } from "@trainyard/testing";
import { pino } from "pino";
import { gcLimits } from "../limits.ts";
import type { Index } from "../shell/index-view.ts";
import { LogClock } from "../shell/log-time.ts";
import { reactionHandlers } from "../shell/reactions.ts";
import { Sweeper } from "../shell/sweeper.ts";
import * as told from "./events.ts";
import { MemoryFacts } from "./memory-index.ts";
import { Oracle } from "./oracle.ts";

export type Step =
  | { readonly kind: "trial"; readonly from: number }
  | {
      readonly kind: "checkpoint";
      readonly trial: number;
      readonly value: number | null;
      /** Whether the script validates before it stores the checkpoint, or afterwards. */
      readonly isValidatedFirst: boolean;
      /** Whether the validation stays in the spool until a `deliver`. */
      readonly isLate: boolean;
    }
  | { readonly kind: "deliver"; readonly run: number; readonly count: number }
  | { readonly kind: "return"; readonly run: number }
  /** `isLost`: nobody sees the end of the run. */
  | { readonly kind: "restart" | "end_trial"; readonly trial: number; readonly isLost: boolean }
  | { readonly kind: "continue"; readonly trial: number }
  | { readonly kind: "propose"; readonly from: number }
  | { readonly kind: "pin" | "unpin" | "damage" | "repair"; readonly checkpoint: number }
  | { readonly kind: "sweep" };

export type History = {
  readonly policy: told.SavePolicy;
  readonly smaller: boolean;
  readonly steps: readonly Step[];
  /** The steps after the end of the experiment. */
  readonly later: readonly Step[];
  /**
   * Whether a person deletes the experiment after its end, and whether the deletion is undone; with the steps around
   * it.
   */
  readonly deletion: "none" | "undone" | "done";
  readonly duringGrace: readonly Step[];
  readonly afterGrace: readonly Step[];
  /** The numbers of the commits before or after which the process dies. */
  readonly crashes: readonly number[];
};

class Crash extends Error {}

export class HistoryRun {
  readonly #clock = new ManualClock();
  readonly #store = createMemoryLog({ clock: this.#clock });
  readonly #teller = this.#store.as("model");
  readonly #oracle: Oracle;
  readonly #history: History;
  readonly #crashes: Set<number>;
  #commits = 0;
  #reacted = 0;
  #checked = 0;
  #handlers: ReactionHandlers = {};
  #executor!: Executor;
  #sweeper!: Sweeper;
  readonly violations: string[] = [];

  constructor(history: History) {
    this.#history = history;
    this.#crashes = new Set(history.crashes);
    this.#oracle = new Oracle(history.policy, history.smaller);
    this.#boot();
  }

  /** Runs the history. Returns the names of each checkpoint's retention events, in order. */
  async run(): Promise<Readonly<Record<string, readonly string[]>>> {
    const { later } = this.#history;
    await this.train();
    for (const number of this.#oracle.liveTrials())
      await this.#step({ kind: "end_trial", trial: number, isLost: false });
    this.#oracle.end();
    await this.#tell("experiment-1", told.experimentEnded());
    for (const step of later) await this.#step(step);
    await this.#delete();
    await this.#clock.advance(gcLimits.valueAwaitedMs);
    this.#oracle.longOver();
    // A process that starts knows the time of the newest event only.
    await this.#tell("agent-b", told.agentReturned("2.1#1", ""));
    await this.#step({ kind: "sweep" });
    this.#complete();
    return this.outcome();
  }

  /** Runs the steps before the end of the experiment. */
  async train(): Promise<void> {
    const { policy, smaller, steps } = this.#history;
    const created = told.experimentCreated("/c", policy, smaller);
    await this.#tell("experiment-1", created);
    for (const step of steps) await this.#step(step);
  }

  async #delete(): Promise<void> {
    const { deletion, duringGrace, afterGrace } = this.#history;
    if (deletion === "none") return;
    this.#oracle.deletion("asked");
    await this.#tell("experiment-1", told.deletionRequested());
    for (const step of duringGrace) await this.#step(step);
    const isDone = deletion === "done";
    this.#oracle.deletion(isDone ? "done" : "none");
    await this.#tell("experiment-1", isDone ? told.deletedForGood() : told.deletionUndone());
    for (const step of afterGrace) await this.#step(step);
  }

  #boot(): void {
    const log = this.#store.as("checkpoint-gc");
    const append: EventLog["append"] = async (request) => {
      this.#commits += 1;
      if (this.#crashes.delete(this.#commits * 2)) throw new Crash();
      const result = await log.append(request);
      if (this.#crashes.delete(this.#commits * 2 + 1)) throw new Crash();
      return result;
    };
    const dying = new Proxy(log, {
      get: (target, key) => {
        if (key === "append") return append;
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
    this.#executor = new Executor(dying, new FoldCache(dying));
    const [clock, graceMs] = [this.#clock, 1_000];
    const deps = { index: this.#index(), time: new LogClock(log, clock, graceMs), graceMs };
    this.#handlers = reactionHandlers(deps);
    const logger = pino({ enabled: false });
    this.#sweeper = new Sweeper({ ...deps, clock, executor: this.#executor, logger });
  }

  async #step(step: Step): Promise<void> {
    for (const { stream, events } of this.#oracle.take(step)) await this.#tell(stream, ...events);
    if (step.kind === "sweep") {
      await this.#surviving(() => this.#sweeper.sweep("1"));
      this.#check();
    }
  }

  async #tell(stream: string, ...events: readonly AnyEvent[]): Promise<void> {
    const expectedVersion = this.#store.store.version(stream);
    const encoded = events.map((event) => ({ id: newEventId(), ...encodeEvent(event) }));
    const writes = [{ stream, expectedVersion, events: encoded }];
    await this.#teller.append({ commitId: newEventId(), meta: emptyMeta, writes, guards: [] });
    await this.#react();
    this.#check();
  }

  /** Reacts to each event in order, as a partition does; after a crash, again from the last committed position. */
  async #react(): Promise<void> {
    while (this.#reacted < this.#store.store.events.length) {
      const stored = this.#store.store.events[this.#reacted];
      if (stored === undefined) return;
      const event = decodeEvent(stored);
      const handler = this.#handlers[event.type] as
        | ((reaction: object, work: object) => Promise<void>)
        | undefined;
      const reaction = { id: idOf(stored.stream), data: event.data, stored };
      await this.#surviving(async () => {
        if (handler === undefined) return;
        const identity = () => ({ commitId: newEventId(), meta: emptyMeta });
        await this.#executor.react(
          identity,
          () => undefined,
          (work) => handler(reaction, work),
          0,
        );
      });
      this.#reacted += 1;
    }
  }

  async #surviving(work: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        // The service follows every event to keep its cache current; the test reads the log again instead.
        this.#executor.cache.clear();
        await work();
        return;
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
        this.#boot();
      }
    }
  }

  /** An index that is computed from the whole log, in place of the service's tables. */
  #index(): Index {
    const [oracle, facts, { store }] = [this.#oracle, new MemoryFacts(), this.#store];
    const there = (checkpoint: string): boolean => {
      const names = this.#retention(checkpoint);
      return names.at(-1) !== "CheckpointDeleted";
    };
    const nothing = async (): Promise<readonly string[]> => [];
    return {
      view: { reach: async () => {} },
      candidates: async (_experiment, _metric, nowMs) => {
        facts.see(store.events);
        const competing = oracle.candidates().filter(({ checkpoint }) => there(checkpoint));
        return competing.map((one) => ({ ...one, awaits: facts.awaited(one, nowMs) }));
      },
      kept: async () =>
        oracle.all().filter((one) => this.#retention(one).at(-1) !== "CheckpointCondemned"),
      referrers: async (checkpoint) => {
        facts.see(store.events);
        return facts.referrers(checkpoint);
      },
      saves: async () => [],
      overdue: nothing,
      forgetOverdue: async () => {},
      due: nothing,
      deleting: nothing,
      thinning: nothing,
      tensorboards: nothing,
      forgetTensorboard: async () => {},
      anyOf: async () => null,
      nextDueMs: async () => null,
      putOff: async () => {},
      forgetRetries: async () => {},
    };
  }

  #retention(checkpoint: string): readonly string[] {
    return this.#store.store
      .stream(streamName("retention", checkpoint))
      .map((stored) => decodeEvent(stored).type);
  }

  /** Checks every new condemnation: nothing may hold or keep its checkpoint at that moment. */
  #check(): void {
    const events = this.#store.store.events;
    for (; this.#checked < events.length; this.#checked += 1) {
      const stored = events[this.#checked];
      if (stored === undefined || categoryOf(stored.stream) !== "retention") continue;
      const { type } = decodeEvent(stored);
      const checkpoint = idOf(stored.stream);
      const why = this.#oracle.keeps(checkpoint);
      if (type === "CheckpointCondemned" && why !== null) {
        this.violations.push(`${checkpoint} was condemned, and ${why}`);
      }
    }
  }

  /** Checks that every checkpoint that nothing holds or keeps is condemned once the experiment has ended. */
  #complete(): void {
    for (const checkpoint of this.#oracle.all()) {
      const condemned = this.#retention(checkpoint).at(-1) === "CheckpointCondemned";
      if (!condemned && this.#oracle.keeps(checkpoint) === null) {
        this.violations.push(`${checkpoint} is not condemned, and nothing holds or keeps it`);
      }
    }
  }

  outcome(): Readonly<Record<string, readonly string[]>> {
    const all = this.#oracle.all();
    return Object.fromEntries(all.map((one) => [one, this.#retention(one)]));
  }
}
