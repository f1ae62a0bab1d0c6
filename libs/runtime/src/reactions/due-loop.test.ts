/** Tests of the loop that acts at times of the log: one failing key stops no other, and no action is early. */
import { createMemoryLog } from "@trainyard/event-log/testing";
import { Fault } from "@trainyard/kernel";
import { ManualClock } from "@trainyard/testing";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FoldCache } from "../folds/fold-cache.ts";
import { Stage } from "../testing/stage.ts";
import { Executor, LeaseLost } from "../work/executor.ts";
import { runtimeLimits } from "../limits.ts";
import { DueLoop } from "./due-loop.ts";

const logger = pino({ enabled: false });
const paused = { type: "ExperimentPaused", data: {} } as const;

let clock: ManualClock;
let stage: Stage;
let stop: AbortController;
let running: Promise<void>;
let loop: DueLoop;
let acted: string[];
/** The error of each key's action. */
let failing: Map<string, Error>;
let parked: number;
/** The position of the event of each key. */
let causes: Map<string, number>;

beforeEach(async () => {
  clock = new ManualClock();
  stage = new Stage("experiments", () => ({}), createMemoryLog({ clock }).as("experiments"));
  for (let n = 1; n <= 5; n += 1) await stage.tell(`experiment-${n}`, paused);
  causes = new Map(["1", "2", "3.1", "3.2"].map((key, index) => [key, index + 1]));
  acted = [];
  failing = new Map();
  parked = 0;
  begin();
});

afterEach(async () => {
  stop.abort();
  await clock.advance(0);
  await running.catch(() => {});
});

/** Starts a leader, which knows only the log. */
function begin(): void {
  stop = new AbortController();
  const { log } = stage;
  const act = async (key: string, reachedMs: number): Promise<null> => {
    acted.push(reachedMs === 0 ? key : `${key} at ${reachedMs}`);
    const failure = failing.get(key);
    if (failure !== undefined) throw failure;
    return null;
  };
  loop = new DueLoop(
    {
      ...{ name: "test", service: "experiments", lane: 1, act },
      causeOf: (key) => causes.get(key) ?? 0,
    },
    {
      ...{ log, executor: new Executor(log, new FoldCache(log)), clock, logger },
      onParked: () => {
        parked += 1;
      },
    },
  );
  running = loop.run(stop.signal);
}

const rows = async () =>
  (await stage.log.parked()).map(({ key, position, reason }) => `${key} ${position} ${reason}`);

describe("an action", () => {
  test("is done once when its time is reached on the monotonic clock, by the log's clock, and not before", async () => {
    loop.passed(1_000_000);
    loop.set("1", 1_000_500);
    await clock.advance(499);
    expect([acted, loop.isOver("1", 1_000_500)]).toEqual([[], false]);
    await clock.advance(1);
    expect([acted, loop.isOver("1", 1_000_500)]).toEqual([["1 at 1000500"], true]);
    loop.set("1", 1_000_500);
    await clock.advance(10_000);
    expect(acted).toHaveLength(1);
    loop.set("1", 1_000_600);
    loop.delete("1");
    await clock.advance(10_000);
    expect(acted).toHaveLength(1);
  });

  test("that fails with a transient fault is retried, and delays the others by one pause at most", async () => {
    failing.set("1", new Fault("away", "the log is away", { retry: "later" }));
    loop.set("1", 1);
    loop.set("2", 1);
    await clock.advance(runtimeLimits.retry.firstMs + 1);
    expect(acted.slice(0, 2)).toEqual(["1 at 1", "2 at 1"]);
    loop.set("3.1", 1);
    await clock.advance(runtimeLimits.retry.lastMs);
    expect(acted).toContain("3.1 at 1");
    failing.clear();
    acted = [];
    await clock.advance(runtimeLimits.retry.lastMs);
    await clock.advance(60_000);
    expect([acted, await rows()]).toEqual([["1 at 1"], []]);
  });

  test("that fails otherwise is parked under its experiment, until an operator's retry succeeds", async () => {
    failing.set("3.1", new Error("a bug"));
    failing.set("3.2", new Error("another bug"));
    for (const key of causes.keys()) loop.set(key, 1);
    await clock.advance(60_000);
    expect(acted).toHaveLength(4);
    expect(await rows()).toEqual(["3 3 test: Error: a bug", "3 4 test: Error: another bug"]);
    expect(parked).toBe(2);
    expect(await loop.retryParked("1")).toBeNull();
    failing.delete("3.1");
    expect(await loop.retryParked("3")).toBe("test: Error: another bug");
    expect(await rows()).toEqual(["3 4 test: Error: another bug"]);
    failing.clear();
    expect(await loop.retryParked("3")).toBeNull();
    expect(await rows()).toEqual([]);
    await clock.advance(60_000);
    expect(acted).toHaveLength(7);
  });

  test("stays parked for the next leader, and a newer event of its key gets an action of its own", async () => {
    failing.set("1", new Error("a bug"));
    loop.set("1", 1);
    await clock.advance(1);
    stop.abort();
    await clock.advance(0);
    begin();
    loop.set("1", 1);
    await clock.advance(60_000);
    expect(acted).toHaveLength(1);
    failing.clear();
    causes.set("1", 5);
    loop.ask("1");
    await clock.advance(1);
    expect(acted).toHaveLength(2);
    expect(await loop.retryParked("1")).toBeNull();
    expect([acted.length, await rows()]).toEqual([2, []]);
  });

  test("that loses the lease ends the term", async () => {
    failing.set("1", new LeaseLost("experiments/0"));
    const ended = running.catch((error: unknown) => error);
    loop.set("1", 1);
    await clock.advance(1);
    expect(await ended).toBeInstanceOf(LeaseLost);
  });
});

test("200,000 keys wait", async () => {
  for (let n = 1; n <= 200_000; n += 1) loop.set(String(n), 1_000_000 + n);
  await clock.advance(1_000_001);
  expect(acted).toEqual(["1 at 1000001"]);
});
