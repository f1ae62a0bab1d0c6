import { encodeEvent } from "@trainyard/contracts";
import { type EventLog, newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { pino } from "pino";
import { expect, test } from "vitest";
import { emptyMeta } from "../work/correlation.ts";
import { FoldCache } from "./fold-cache.ts";
import type { StreamFold } from "./folds.ts";

const counted: StreamFold<number> = {
  name: "counted",
  category: "experiment",
  initial: 0,
  evolve: (count) => count + 1,
};

async function append(log: EventLog, expectedVersion: number): Promise<void> {
  const event = encodeEvent({ type: "ExperimentPaused", data: {} });
  await log.append({
    commitId: newEventId(),
    writes: [{ stream: "experiment-1", expectedVersion, events: [{ id: newEventId(), ...event }] }],
    guards: [],
    meta: emptyMeta,
  });
}

test("an event that arrives while the stream is read is included in the fold", async () => {
  const log = createMemoryLog().as("experiments");
  await append(log, 0);
  const slow = { ...log, read: log.read.bind(log) } as EventLog;
  const cache = new FoldCache(slow);
  let first = true;
  slow.read = async (stream, afterVersion, limit) => {
    const page = await log.read(stream, afterVersion, limit);
    if (first) {
      first = false;
      await append(log, 1);
      const [passing] = await log.read(stream, 1, 1);
      if (passing !== undefined) cache.observe(passing);
    }
    return page;
  };
  expect(await cache.load(counted, "1")).toEqual({ state: 2, version: 2 });
  expect(await cache.load(counted, "1")).toEqual({ state: 2, version: 2 });
});

test("a cached fold continues with later events, and is read again after a gap", async () => {
  const log = createMemoryLog().as("experiments");
  const cache = new FoldCache(log);
  await append(log, 0);
  expect((await cache.load(counted, "1")).version).toBe(1);
  for (const version of [1, 2, 3]) await append(log, version);
  const events = await log.read("experiment-1", 0, 10);
  const [, second, , fourth] = events;
  if (second !== undefined) cache.observe(second);
  expect((await cache.load(counted, "1")).version).toBe(2);
  if (fourth !== undefined) cache.observe(fourth);
  expect(await cache.load(counted, "1")).toEqual({ state: 4, version: 4 });
});

test("streams of a followed category are cached from their first event on, without a read", async () => {
  const log = createMemoryLog().as("experiments");
  await append(log, 0);
  await append(log, 1);
  const events = await log.read("experiment-1", 0, 10);
  const cache = new FoldCache({
    ...log,
    read: () => Promise.reject(new Error("the log is read")),
  } as EventLog);
  cache.follow(counted);
  for (const event of events) cache.observe(event);
  expect(await cache.load(counted, "1")).toEqual({ state: 2, version: 2 });
});

test("a saved fold is continued unless the log lost events since: then a warning is logged, and the stream is folded again", async () => {
  const memory = createMemoryLog();
  const { store } = memory;
  const log = memory.as("experiments");
  let folded = 0;
  const saved: StreamFold<number> = {
    ...counted,
    evolve: (count) => {
      folded += 1;
      return count + 1;
    },
    snapshot: {
      schema: "counted/1",
      encode: (count) => JSON.stringify({ count }),
      decode: (text) => (JSON.parse(text) as { count: number }).count,
    },
  };
  const told: string[] = [];
  const logger = pino({ level: "error" }, { write: (line: string) => void told.push(line) });
  const load = () => new FoldCache(log, 10, logger).load(saved, "1");
  for (const version of [0, 1]) await append(log, version);
  const restore = store.backup();
  await append(log, 2);
  const stale = new FoldCache(log);
  await stale.load(saved, "1");
  await stale.saveSnapshot(saved, "1");
  folded = 0;
  expect(await load()).toEqual({ state: 3, version: 3 });
  expect([folded, told]).toEqual([0, []]);
  const ofTheLost = store.snapshots.get("experiment-1\ncounted/1");
  restore();
  if (ofTheLost !== undefined) store.snapshots.set("experiment-1\ncounted/1", ofTheLost);
  expect(await load()).toEqual({ state: 2, version: 2 });
  await append(log, 2);
  expect(await load()).toEqual({ state: 3, version: 3 });
  expect(folded).toBe(5);
  expect(told).toHaveLength(2);
  expect(told[0]).toContain(
    "the saved fold of experiment-1 ends with an event that the log does not have at 3",
  );
});
