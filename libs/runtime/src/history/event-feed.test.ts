import { createMemoryBus, type MemoryHub } from "@trainyard/bus/testing";
import { newEventId, type StoredEvent } from "@trainyard/event-log";
import { createMemoryLog, type MemoryLog } from "@trainyard/event-log/testing";
import { ManualClock } from "@trainyard/testing";
import { pino } from "pino";
import { beforeEach, expect, test } from "vitest";
import { runtimeLimits } from "../limits.ts";
import { emptyMeta } from "../work/correlation.ts";
import { EventFeed } from "./event-feed.ts";
import { LogRewound } from "./log-history.ts";

const never = new AbortController().signal;

let clock: ManualClock;
let hub: MemoryHub;
let log: MemoryLog;
let told: Record<string, unknown>[] = [];
/** Counts the reads of events from the log. */
let reads = 0;

beforeEach(() => {
  clock = new ManualClock();
  hub = createMemoryBus({ clock });
  reads = 0;
  log = newLog();
  told = [];
});

function newLog(): MemoryLog {
  return createMemoryLog({
    clock,
    beforeCall: (method) => {
      if (method === "readAll") reads += 1;
    },
  });
}

async function write(into: MemoryLog, ...streams: readonly string[]): Promise<void> {
  for (const stream of streams) {
    const expectedVersion = into.store.events.filter((event) => event.stream === stream).length;
    const events = [{ id: newEventId(), type: "dev.trainyard.pool.PoolRemoved.v1", body: "{}" }];
    const writes = [{ stream, expectedVersion, events }];
    await into.as("writer").append({ commitId: newEventId(), writes, guards: [], meta: emptyMeta });
  }
}

const logger = pino(
  { level: "warn" },
  { write: (line: string) => void told.push(JSON.parse(line)) },
);
const open = (): Promise<EventFeed> =>
  EventFeed.open(log.as("scheduler"), hub.connect("test"), clock, logger);
/** Publishes the log's events from a position on, like a relay. */
async function publish(from: MemoryLog, first: number, epoch = "1", name = "relay"): Promise<void> {
  const events = from.store.events.slice(first - 1);
  const bus = hub.connect(name);
  await bus.lastEvent();
  await bus.publishEvents(events, { log: from.store.events[0]?.id ?? "", epoch });
  await clock.advance(0);
}
const idsOf = (events: readonly StoredEvent[]): readonly string[] => events.map(({ id }) => id);
const idsIn = (from: MemoryLog, first: number): readonly string[] =>
  idsOf(from.store.events.slice(first - 1));

test("a feed whose signal aborts during a read of the log does not wait for more", async () => {
  const stop = new AbortController();
  const aborting = createMemoryLog({ beforeCall: () => stop.abort() }).as("scheduler");
  await using feed = await EventFeed.open(aborting, hub.connect("test"), clock);
  expect(await feed.next(0, stop.signal)).toEqual([]);
});

test("an event that follows the last read one is taken from the bus, without a read of the log", async () => {
  await using feed = await open();
  await write(log, "pool-1", "pool-2");
  expect(idsOf(await feed.next(0, never))).toEqual(idsIn(log, 1));
  await publish(log, 1);
  await feed.next(2, AbortSignal.abort());
  await write(log, "pool-1", "pool-3");
  await publish(log, 3);
  const before = reads;
  expect(idsOf(await feed.next(2, never))).toEqual(idsIn(log, 3));
  expect(reads).toBe(before);
});

test("a reader that is level with the bus reads the log only when the bus is silent", async () => {
  await using feed = await open();
  await write(log, "pool-a");
  await feed.next(0, never);
  // A new relay epoch causes one read of the log.
  for (const position of [2, 3]) {
    const waiting = feed.next(position - 1, never);
    await clock.advance(0);
    await write(log, "pool-a");
    await publish(log, position);
    await waiting;
  }
  reads = 0;
  const waiting = feed.next(3, never);
  await clock.advance(runtimeLimits.silentBusMs - 1);
  expect(reads).toBe(0);
  await write(log, "pool-a");
  await clock.advance(1);
  expect(idsOf(await waiting)).toEqual(idsIn(log, 4));
  expect(reads).toBeGreaterThan(0);
});

test("a nudge makes a reader that is level with the bus read the log at once", async () => {
  await using feed = await open();
  await write(log, "pool-a");
  await feed.next(0, never);
  await write(log, "pool-a");
  await publish(log, 2);
  await feed.next(1, never);
  const waiting = feed.next(2, never);
  await write(log, "pool-a");
  feed.nudge();
  expect(idsOf(await waiting)).toEqual(idsIn(log, 3));
});

test("events of another log on the same NATS account are never delivered, and are logged", async () => {
  await using feed = await open();
  const other = newLog();
  await write(log, "pool-1", "pool-2");
  await write(other, "pool-a", "pool-b", "pool-c", "pool-d");
  await feed.next(0, never);
  const waiting = feed.next(2, never);
  await clock.advance(0);
  const before = reads;
  await publish(other, 1, "x", "relay of another cluster");
  // Another log's events on the bus cause no reads of this log.
  expect(reads).toBe(before);
  await write(log, "pool-3");
  await clock.advance(runtimeLimits.silentBusMs);
  expect(idsOf(await waiting)).toEqual(idsIn(log, 3));
  expect(told).toMatchObject([
    {
      msg: "live_event_ignored",
      logOfEvent: other.store.events[0]?.id,
      detail: expect.stringMatching(
        / is of another log: give each cluster a NATS account of its own$/,
      ),
    },
  ]);
});

test("an event without a log id that is not in the log is not delivered", async () => {
  await using feed = await open();
  const other = newLog();
  await write(log, "pool-1", "pool-2");
  await write(other, "pool-a", "pool-b", "pool-c");
  await feed.next(0, never);
  const foreign = hub.connect("foreign");
  await foreign.lastEvent();
  await foreign.publishEvents(other.store.events.slice(2));
  await clock.advance(0);
  const waiting = feed.next(2, never);
  await clock.advance(0);
  const before = reads;
  await clock.advance(1);
  // The log is read once, not repeatedly.
  expect(reads).toBe(before);
  await write(log, "pool-3");
  await clock.advance(runtimeLimits.silentBusMs);
  expect(idsOf(await waiting)).toEqual(idsIn(log, 3));
  expect(told).toMatchObject([{ msg: "live_event_ignored" }]);
});

test("after a failover with loss, new events are not taken as successors of the lost ones", async () => {
  await using feed = await open();
  await write(log, "pool-1", "pool-2");
  const restore = log.store.backup();
  await write(log, "pool-3");
  expect(await feed.next(0, never)).toHaveLength(3);
  // Position 3 was lost. The log continues with other events at 3 and 4, and the bus has only the one at 4.
  restore();
  await write(log, "pool-8", "pool-9");
  await publish(log, 4, "2");
  await expect(feed.next(3, never)).rejects.toThrow(LogRewound);
  expect(idsOf(await feed.next(2, never))).toEqual(idsIn(log, 3));
});

test("a log that ends before the last read event is reported once, although no new event arrives", async () => {
  await using feed = await open();
  await write(log, "pool-1");
  const restore = log.store.backup();
  await write(log, "pool-2", "pool-3");
  await feed.next(0, never);
  const waiting = feed.next(3, never);
  const outcome = waiting.catch((error: unknown) => error);
  await clock.advance(0);
  restore();
  await clock.advance(runtimeLimits.silentBusMs);
  expect(await outcome).toMatchObject({
    code: "log_rewound",
    message: expect.stringMatching(
      /^the log went back: .* was read at position 3, and the log ends before that;/,
    ),
  });
  await write(log, "pool-7");
  expect(await feed.next(1, never)).toHaveLength(1);
});

test("a reader that goes back to an earlier position also notices a log that lost its last events", async () => {
  await using feed = await open();
  await write(log, "pool-1", "pool-2");
  const restore = log.store.backup();
  await write(log, "pool-3");
  await feed.next(0, never);
  restore();
  await write(log, "pool-7", "pool-8");
  await expect(feed.next(1, never)).rejects.toThrow(LogRewound);
});

test("a refilled stream wakes no reader for events that it has already", async () => {
  await using feed = await open();
  await write(log, ...Array.from({ length: 50 }, (_, index) => `pool-${index}`));
  await feed.next(0, never);
  const waiting = feed.next(50, never);
  await clock.advance(0);
  const before = reads;
  await publish(log, 1, "2");
  // The new epoch causes one read of the log.
  expect(reads - before).toBe(1);
  await write(log, "pool-51");
  await publish(log, 51, "2");
  expect(idsOf(await waiting)).toEqual(idsIn(log, 51));
});
