import { createMemoryBus } from "@trainyard/bus/testing";
import { type EventOf, encodeEvent } from "@trainyard/contracts";
import { type EventLog, newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { Fault } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { FoldCache } from "../folds/fold-cache.ts";
import type { Aggregate } from "../folds/folds.ts";
import { EventFeed } from "../history/event-feed.ts";
import { runtimeLimits } from "../limits.ts";
import { emptyMeta } from "../work/correlation.ts";
import { Executor } from "../work/executor.ts";
import { type ReactionHandlers, ReactionLoop } from "./reactions.ts";

/** A stream that accepts only one event. */
const marks: Aggregate<boolean, "mark", EventOf<"ExperimentActivated">> = {
  name: "mark",
  category: "experiment",
  decider: {
    initial: false,
    decide: (marked) => (marked ? [] : [{ type: "ExperimentActivated", data: {} }]),
    evolve: () => true,
  },
};

/** Three commits: two full parts and the rest. */
const fanOut = runtimeLimits.streamsPerPart * 2 + 40;

/** The log fails once, at the commit with this number after the event was parked. */
type Trouble = { readonly at: number; readonly written: boolean };

class World {
  readonly log: EventLog;
  #mended = false;
  #commits = 0;
  #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor({ at, written }: Trouble) {
    const strike = (): void => {
      throw new Fault("log_away", "the log cannot be reached", { retry: "later" });
    };
    this.log = createMemoryLog({
      beforeCommit: () => {
        if (!this.#mended) return;
        this.#commits += 1;
        if (this.#commits === at && !written) strike();
      },
      afterCommit: () => {
        if (this.#commits === at && written) strike();
      },
    }).as("experiments");
  }

  /** Parks an event with many marks and the next event. */
  async park(): Promise<void> {
    for (const version of [0, 1]) await this.pause(version);
    await this.start();
    await expect.poll(() => this.parked()).toEqual([1, 2]);
    await this.stop();
    this.#mended = true;
  }

  async pause(version: number): Promise<void> {
    const events = [{ id: newEventId(), ...encodeEvent({ type: "ExperimentPaused", data: {} }) }];
    const writes = [{ stream: "experiment-1", expectedVersion: version, events }];
    await this.log.append({ commitId: newEventId(), writes, guards: [], meta: emptyMeta });
  }

  async start(): Promise<ReactionLoop> {
    const { log } = this;
    this.#stop = new AbortController();
    const feed = await EventFeed.open(log, createMemoryBus().connect("test"), systemClock);
    const executor = new Executor(log, new FoldCache(log));
    const consumer = "experiments";
    const handlers: ReactionHandlers = {
      ExperimentPaused: async (_, work) => {
        if (!this.#mended) throw new Error("not understood yet");
        for (let n = 1; n <= fanOut; n += 1) {
          await work.decide(marks, String(1_000 + n), "mark");
          await work.part();
        }
      },
    };
    const loop = new ReactionLoop(
      { service: consumer, consumer, partition: 0, handlers },
      { log, feed, executor, clock: systemClock, logger: pino({ enabled: false }) },
    );
    this.#running = loop.run(this.#stop.signal);
    return loop;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async parked(): Promise<readonly number[]> {
    return (await this.log.parked("experiments")).map(({ position }) => position);
  }

  async marked(): Promise<readonly string[]> {
    const events = await this.log.readAll(0, 10_000);
    return events.filter(({ type }) => type.includes("Activated")).map(({ stream }) => stream);
  }
}

describe("a retried parked event with a fan-out of several commits", () => {
  for (const at of [1, 2, 3]) {
    for (const written of [false, true]) {
      const fault = `at commit ${at}, ${written ? "written" : "not written"}`;
      for (const dies of [false, true]) {
        const after = dies ? "the process died" : "a fault";
        test(`finishes at the next retry after ${after} ${fault}`, async () => {
          const world = new World({ at, written });
          await world.park();
          let loop = await world.start();
          expect(await loop.retryParked("1")).toMatch("the log cannot be reached");
          // Only the last commit deletes the row.
          expect(await world.parked()).toEqual(at === 3 && written ? [2] : [1, 2]);
          if (dies) {
            await world.stop();
            loop = await world.start();
          }
          expect(await loop.retryParked("1")).toBeNull();
          const streams = await world.marked();
          expect(new Set(streams).size).toBe(fanOut);
          expect(streams.length).toBe(fanOut);
          expect(await world.parked()).toEqual([]);
          await world.stop();
        });
      }
    }
  }
});

test("later events are not parked if the commit that unparked the last row was written before a fault", async () => {
  const world = new World({ at: 4, written: true });
  await world.park();
  const loop = await world.start();
  expect(await loop.retryParked("1")).toMatch("the log cannot be reached");
  expect(await world.parked()).toEqual([]);
  await world.pause(2);
  const head = await world.log.head();
  await expect.poll(() => loop.position).toBe(head);
  expect(await world.parked()).toEqual([]);
  await world.stop();
});
