import { createMemoryBus } from "@trainyard/bus/testing";
import { newEventId } from "@trainyard/event-log";
import { createMemoryLog, type MemoryLog } from "@trainyard/event-log/testing";
import { systemClock } from "@trainyard/kernel/system-clock";
import { createLogger, emptyMeta, LogRewound } from "@trainyard/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { RecentEvents } from "./recent-events.ts";

let stop: AbortController;
let running: Promise<void>;
let isAway: boolean;

beforeEach(() => {
  stop = new AbortController();
  running = Promise.resolve();
  isAway = false;
});
afterEach(async () => {
  stop.abort();
  await running.catch(() => {});
});

const check = (): void => {
  if (isAway) throw new Error("the log is away");
};

async function write(log: MemoryLog, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const expectedVersion = log.store.events.length;
    const events = [{ id: newEventId(), type: "dev.trainyard.pool.PoolRemoved.v1", body: "{}" }];
    const writes = [{ stream: "pool-a", expectedVersion, events }];
    await log.as("writer").append({ commitId: newEventId(), writes, guards: [], meta: emptyMeta });
  }
}

function follow(log: MemoryLog): RecentEvents {
  const bus = createMemoryBus().connect("test");
  const epoch = { current: () => Promise.resolve("e1") };
  const logger = createLogger("test", "silent");
  const recent = new RecentEvents({ log: log.as("feeds"), bus, clock: systemClock, logger, epoch });
  running = recent.run(stop.signal);
  return recent;
}

/** Returns when the log has been away for long enough that the reading of it has failed. */
async function away(recent: RecentEvents): Promise<void> {
  await expect.poll(() => recent.history).toBeGreaterThan(0);
  const before = recent.history;
  isAway = true;
  await expect.poll(() => recent.history, { timeout: 10_000 }).toBeGreaterThan(before);
}

const positionsOf = (events: Awaited<ReturnType<RecentEvents["after"]>>): readonly number[] =>
  events.map(({ stored }) => stored.position);

const limit = 20_000;

test(
  "an event of the time in which the log was not read arrives without a later one",
  async () => {
    const log = createMemoryLog({ beforeCall: check });
    await write(log, 1);
    const recent = follow(log);
    const waiting = recent.after(1, stop.signal);
    await away(recent);
    isAway = false;
    await write(log, 1);
    expect(positionsOf(await waiting)).toEqual([2]);
  },
  limit,
);

test(
  "a log that went back while it was away ends the reading",
  async () => {
    const log = createMemoryLog({ beforeCall: check });
    await write(log, 2);
    const recent = follow(log);
    const waiting = recent.after(2, stop.signal);
    await expect.poll(() => recent.history).toBe(1);
    const restore = log.store.backup();
    await write(log, 1);
    expect(positionsOf(await waiting)).toEqual([3]);
    await away(recent);
    restore();
    isAway = false;
    await write(log, 3);
    await expect(running).rejects.toThrow(LogRewound);
  },
  limit,
);
