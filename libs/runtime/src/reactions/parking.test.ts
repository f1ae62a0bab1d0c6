import { createMemoryBus } from "@trainyard/bus/testing";
import { type AnyEvent, type EventOf, encodeEvent } from "@trainyard/contracts";
import { newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { Fault } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FoldCache } from "../folds/fold-cache.ts";
import type { Aggregate } from "../folds/folds.ts";
import { EventFeed } from "../history/event-feed.ts";
import { emptyMeta } from "../work/correlation.ts";
import { Executor } from "../work/executor.ts";
import { type ReactionHandlers, ReactionLoop } from "./reactions.ts";

const paused: AnyEvent = { type: "ExperimentPaused", data: {} };

/** Streams with one event that is larger than the log accepts. */
const novels: Aggregate<null, "write", EventOf<"ExperimentStopRequested">> = {
  name: "novel",
  category: "experiment",
  decider: {
    initial: null,
    decide: () => [
      { type: "ExperimentStopRequested", data: { kind: 1, reason: "x".repeat(300_000) } },
    ],
    evolve: () => null,
  },
};

/** A service that records which experiments were paused, and fails at the named ones. */
class World {
  readonly log = createMemoryLog().as("experiments");
  readonly noted: string[] = [];
  /** The errors that experiments' events throw, by experiment. */
  readonly failing = new Map<string, Error>();
  /** Experiments whose reaction decides on an event that is larger than the log accepts. */
  readonly tooLarge = new Set<string>();
  readonly #bus = createMemoryBus().connect("experiments");
  #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  async tell(...experiments: readonly string[]): Promise<void> {
    for (const id of experiments) {
      const stream = `experiment-${id}`;
      const expectedVersion = (await this.log.read(stream, 0, 100)).length;
      const events = [{ id: newEventId(), ...encodeEvent(paused) }];
      const writes = [{ stream, expectedVersion, events }];
      await this.log.append({ commitId: newEventId(), writes, guards: [], meta: emptyMeta });
    }
  }

  async start(): Promise<ReactionLoop> {
    const { log } = this;
    this.#stop = new AbortController();
    const feed = await EventFeed.open(log, this.#bus, systemClock);
    const executor = new Executor(log, new FoldCache(log));
    const handlers: ReactionHandlers = {
      ExperimentPaused: async ({ id }, work) => {
        const failure = this.failing.get(id);
        if (failure !== undefined) throw failure;
        if (this.tooLarge.has(id)) await work.decide(novels, `9${id}`, "write");
        this.noted.push(id);
      },
    };
    const consumer = "experiments";
    const loop = new ReactionLoop(
      { service: consumer, consumer, partition: 0, handlers },
      { log, feed, executor, clock: systemClock, logger: pino({ enabled: false }) },
    );
    this.#running = loop.run(this.#stop.signal).catch((error: unknown) => error);
    return loop;
  }

  /** Stops the loop and returns the error with which it ended; undefined for none. */
  async stop(): Promise<unknown> {
    this.#stop.abort();
    return this.#running;
  }

  ended(): Promise<unknown> {
    return this.#running;
  }

  async parked(): Promise<readonly string[]> {
    return (await this.log.parked("experiments")).map(({ key, reason }) => `${key}: ${reason}`);
  }
}

let world: World;

beforeEach(() => {
  world = new World();
});

afterEach(async () => {
  await world.stop();
});

describe("an event that cannot be processed", () => {
  test("is parked with its reason and with later events of its experiment, and other experiments continue", async () => {
    world.failing.set("1", new Error("what is this?"));
    await world.tell("1", "2", "1", "3");
    await world.start();
    await expect.poll(() => world.noted).toEqual(["2", "3"]);
    expect(await world.parked()).toEqual([
      "1: Error: what is this?",
      "1: parked behind an earlier event",
    ]);
  });

  test("is retried and not parked after a transient fault", async () => {
    world.failing.set("1", new Fault("away", "the log is away", { retry: "later" }));
    await world.tell("1");
    await world.start();
    world.failing.delete("1");
    await expect.poll(() => world.noted).toEqual(["1"]);
    expect(await world.parked()).toEqual([]);
  });

  test("stops the loop if it is the third in a row, each of another experiment", async () => {
    for (const id of ["1", "2", "3"]) world.failing.set(id, new Error("everything fails"));
    await world.tell("1", "2", "3", "4");
    await world.start();
    expect(await world.ended()).toMatchObject({ code: "parked_in_a_row" });
    expect(world.noted).toEqual([]);
  });

  test("does not count towards stopping the loop if the log refuses its commit as too large", async () => {
    const large = ["1", "2", "3", "4", "5"];
    for (const id of large) world.tooLarge.add(id);
    await world.tell(...large, "6");
    await world.start();
    // The handler records refused events too: they are parked when their commit is refused.
    await expect.poll(() => world.noted).toEqual([...large, "6"]);
    await expect.poll(() => world.parked()).toHaveLength(5);
    for (const row of await world.parked()) expect(row).toMatch("body_too_large");
  });

  test("keeps its experiment parked after a restart", async () => {
    world.failing.set("1", new Error("what is this?"));
    await world.tell("1", "2");
    await world.start();
    await expect.poll(() => world.noted).toEqual(["2"]);
    await world.stop();
    world.failing.clear();
    await world.tell("1", "3");
    await world.start();
    await expect.poll(() => world.noted).toEqual(["2", "3"]);
    expect(await world.parked()).toHaveLength(2);
  });
});

describe("a retry of parked events by an operator", () => {
  test("processes them in order, even without new events, and the experiment continues", async () => {
    world.failing.set("1", new Error("what is this?"));
    await world.tell("1", "1", "2");
    const loop = await world.start();
    await expect.poll(() => world.noted).toEqual(["2"]);
    world.failing.clear();
    expect(await loop.retryParked("1")).toBeNull();
    expect(world.noted).toEqual(["2", "1", "1"]);
    expect(await world.parked()).toEqual([]);
    await world.tell("1");
    await expect.poll(() => world.noted).toEqual(["2", "1", "1", "1"]);
  });

  test("returns the reason if they fail again", async () => {
    world.failing.set("1", new Error("what is this?"));
    await world.tell("1", "2");
    const loop = await world.start();
    await expect.poll(() => world.noted).toEqual(["2"]);
    expect(await loop.retryParked("1")).toBe("Error: what is this?");
    expect(await world.parked()).toHaveLength(1);
  });
});
