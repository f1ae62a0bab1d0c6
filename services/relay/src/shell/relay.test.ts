import { getEventListeners } from "node:events";
import { createMemoryBus } from "@trainyard/bus/testing";
import {
  type AppendRequest,
  type EventLog,
  newEventId,
  type StoredEvent,
} from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { type Clock, Fault } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { createLogger, createRegistry, emptyMeta, type KnownEvent } from "@trainyard/runtime";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { relayLimits } from "../limits.ts";
import { createTelemetry } from "../telemetry.ts";
import { relay } from "./relay.ts";

let clock: Clock = systemClock;
let log = createMemoryLog();
let hub = createMemoryBus();
let heard: StoredEvent[] = [];
let versions = new Map<string, number>();
let stop = new AbortController();
let running: Promise<void>[] = [];
let reported: KnownEvent[] = [];
/** The reports of a rewind that the registry does not answer. */
let unanswered = 0;

beforeEach(async () => {
  clock = systemClock;
  log = createMemoryLog();
  hub = createMemoryBus();
  heard = [];
  versions = new Map();
  stop = new AbortController();
  running = [];
  [reported, unanswered] = [[], 0];
  await listen();
});

/** Adds a consumer without a memory of earlier events; a continuing one would skip known positions. */
async function listen(): Promise<void> {
  const since: StoredEvent[] = [];
  heard = since;
  await hub.connect("listener").tailEvents((event) => since.push(event));
}

afterEach(async () => {
  stop.abort();
  await Promise.all(running);
});

async function append(count: number, writer: EventLog = log.as("writer")): Promise<void> {
  for (let written = 0; written < count; written += 100) {
    const size = Math.min(100, count - written);
    const stream = `pool-${versions.size % 7}`;
    const expectedVersion = versions.get(stream) ?? 0;
    const events = Array.from({ length: size }, () => ({
      id: newEventId(),
      type: "dev.trainyard.pool.PoolRemoved.v1",
      body: "{}",
    }));
    const request: AppendRequest = {
      commitId: newEventId(),
      writes: [{ stream, expectedVersion, events }],
      guards: [],
      meta: emptyMeta,
    };
    expect((await writer.append(request)).kind).toBe("committed");
    versions.set(stream, expectedVersion + size);
  }
}

async function reportRewind({ position, id }: KnownEvent): Promise<void> {
  reported.push({ position, id });
  if (reported.length <= unanswered) {
    throw new Fault("unanswered", "the registry does not answer", { retry: "later" });
  }
}

function start(reader: EventLog = log.as("relay"), name = "relay"): AbortController {
  const logger = createLogger("relay", "silent");
  const events = createTelemetry(createRegistry("relay"), logger);
  const own = new AbortController();
  const signal = AbortSignal.any([stop.signal, own.signal]);
  running.push(relay({ log: reader, bus: hub.connect(name), clock, events, reportRewind }, signal));
  return own;
}

const positions = (): readonly number[] => heard.map((event) => event.position);
const upTo = (last: number, first = 1): readonly number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);
const untilHeard = (count: number): Promise<void> =>
  vi.waitFor(() => expect(heard.length).toBeGreaterThanOrEqual(count), { timeout: 90_000 });

test("past and later events arrive once and in order", async () => {
  await append(1_234);
  start();
  await untilHeard(1_234);
  await append(5);
  await untilHeard(1_239);
  expect(positions()).toEqual(upTo(1_239));
});

test("the relay empties a stream that the log has left behind only after the registry has answered its report", async () => {
  await append(2);
  const restore = log.store.backup();
  const before = new Map(versions);
  await append(3);
  const first = start();
  await untilHeard(5);
  first.abort();
  await Promise.all(running);
  const lost = { position: 5, id: hub.last?.id };
  restore();
  versions = before;
  await listen();
  unanswered = 3;
  start();
  await vi.waitFor(() => expect(reported.length).toBeGreaterThan(1), { timeout: 90_000 });
  expect(hub.last?.id).toBe(lost.id);
  await untilHeard(2);
  expect(reported).toEqual([lost, lost, lost, lost]);
  expect(hub.last?.position).toBe(2);
});

test("the stream of another log is refilled without a report of a rewind", async () => {
  await append(3);
  const first = start();
  await untilHeard(3);
  first.abort();
  await Promise.all(running);
  log = createMemoryLog();
  versions.clear();
  await listen();
  await append(2);
  start();
  await untilHeard(2);
  expect(reported).toEqual([]);
});

test("a restarted relay continues after the stream's last event", async () => {
  await append(10);
  const first = start();
  await untilHeard(10);
  first.abort();
  await running[0];
  await append(10);
  start();
  await untilHeard(20);
  expect(positions()).toEqual(upTo(20));
});

test("two concurrent relays neither repeat nor reorder events", async () => {
  start(log.as("relay"), "relay-a");
  start(log.as("relay"), "relay-b");
  for (let round = 0; round < 30; round += 1) {
    await append(7);
    await untilHeard((round + 1) * 7);
  }
  expect(positions()).toEqual(upTo(210));
});

test("a wiped stream is refilled before new events are published", async () => {
  await append(3);
  const first = start();
  await untilHeard(3);
  first.abort();
  await running[0];
  hub.wipe();
  await append(2);
  await listen();
  start();
  await untilHeard(5);
  expect(positions()).toEqual(upTo(5));
});

test("a stream that is wiped while the relay runs is refilled", async () => {
  await append(3);
  start();
  await untilHeard(3);
  hub.wipe();
  await listen();
  await append(1);
  await untilHeard(4);
  expect(positions()).toEqual(upTo(4));
});

test("a NATS server that returns without its data is refilled although no new event is appended", async () => {
  await append(3);
  start();
  await untilHeard(3);
  hub.disconnect("relay");
  hub.wipe();
  await listen();
  hub.reconnect("relay");
  await untilHeard(3);
  expect(positions()).toEqual(upTo(3));
});

test("a refill leaves out events older than the retention", async () => {
  await append(3);
  let relaying = false;
  const reader = log.as("relay");
  const onAppended = reader.onAppended.bind(reader);
  reader.onAppended = (callback) => {
    relaying = true;
    return onAppended(callback);
  };
  clock = { ...systemClock, nowMs: () => Date.now() + relayLimits.refillAgeMs + 60_000 };
  start(reader);
  await vi.waitFor(() => expect(relaying).toBe(true), { timeout: 90_000 });
  await append(1);
  await untilHeard(1);
  expect(positions()).toEqual([4]);
});

test("a rewound log is published again from its start", async () => {
  await append(9);
  const first = start();
  await untilHeard(9);
  first.abort();
  await running[0];
  log = createMemoryLog();
  versions.clear();
  await listen();
  await append(4);
  start();
  await untilHeard(4);
  await append(8);
  await untilHeard(12);
  expect(positions()).toEqual(upTo(12));
  expect(hub.last?.position).toBe(12);
});

test("the relay logs that a log went back while it runs, and fills the stream with the new history as a new epoch", async () => {
  const said: string[] = [];
  const epochs: string[] = [];
  await hub.connect("integrator").tailEvents(({ position }, { epoch, log: name }) => {
    epochs.push(`${name === log.store.events[0]?.id} ${epoch} ${position}`);
  });
  await append(2);
  const restore = log.store.backup();
  const before = new Map(versions);
  await append(3);
  const logger = createLogger("relay", "silent");
  const events = {
    ...createTelemetry(createRegistry("relay"), logger),
    rewound: (detail: string) => void said.push(detail),
  };
  const bus = hub.connect("relay");
  running.push(relay({ log: log.as("relay"), bus, clock, events, reportRewind }, stop.signal));
  await untilHeard(5);
  restore();
  versions = before;
  await listen();
  await append(1);
  await untilHeard(3);
  expect(heard.map(({ id }) => id)).toEqual(log.store.events.map(({ id }) => id));
  const sentence = /^the stream's last event is \S+ at position 5, but the log ends before it: /;
  expect(said).toEqual([expect.stringMatching(sentence)]);
  const [old, young] = [...new Set(epochs.map((line) => line.split(" ")[1]))];
  expect(epochs).toEqual([
    ...upTo(5).map((position) => `true ${old} ${position}`),
    ...upTo(3).map((position) => `true ${young} ${position}`),
  ]);
});

test("the relay empties a stream that the log has left behind only after the registry has answered its report", async () => {
  await append(5);
  start();
  await untilHeard(5);
  stop.abort();
  await Promise.all(running);
  const lost = { position: 5, id: log.store.events[4]?.id ?? "" };
  const restore = log.store.backup();
  log.store.events.splice(0);
  restore();
  stop = new AbortController();
  expect(lost.id).not.toBe("");
});

test("a restarted relay continues with the epoch of the stream", async () => {
  const epochs = new Set<string>();
  await hub.connect("integrator").tailEvents((_event, { epoch }) => epochs.add(epoch));
  await append(3);
  const first = start();
  await untilHeard(3);
  first.abort();
  await running[0];
  await append(3);
  start();
  await untilHeard(6);
  expect([...epochs]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
});

test("no event is lost when the bus is unavailable for a while", async () => {
  start();
  await append(5);
  await untilHeard(5);
  hub.disconnect("relay");
  await append(5);
  hub.reconnect("relay");
  await untilHeard(10);
  expect(positions()).toEqual(upTo(10));
});

test("a failed read of the log is retried", async () => {
  let failures = 0;
  log = createMemoryLog({
    beforeCall: (method) => {
      if (method !== "readAll" || failures >= 5) return;
      failures += 1;
      throw new Fault("connection_lost", "the connection to the log failed", { retry: "later" });
    },
  });
  start();
  await append(5);
  await untilHeard(5);
  expect(positions()).toEqual(upTo(5));
  expect(failures).toBe(5);
});

test("a failed relay removes its listener from the abort signal", async () => {
  let failures = 0;
  const failing = log.as("relay");
  failing.onAppended = async () => {
    failures += 1;
    throw new Fault("connection_lost", "the connection to the log failed", { retry: "later" });
  };
  const events = createTelemetry(createRegistry("relay"), createLogger("relay", "silent"));
  const deps = { log: failing, bus: hub.connect("relay"), clock, events, reportRewind };
  running.push(relay(deps, stop.signal));
  await vi.waitFor(() => expect(failures).toBeGreaterThan(4), { timeout: 90_000 });
  expect(getEventListeners(stop.signal, "abort").length).toBeLessThan(4);
});

test("a log without notifications is polled", async () => {
  const deaf = log.as("relay");
  deaf.onAppended = async () => ({ [Symbol.asyncDispose]: async () => {} });
  start(deaf);
  await append(2);
  await untilHeard(2);
  await append(2);
  await untilHeard(4);
  expect(positions()).toEqual(upTo(4));
});

test("the relay reads only a limited number of events ahead of the bus", async () => {
  await append(5_000);
  const slow = hub.connect("relay");
  let read = 0;
  const confirmations: (() => void)[] = [];
  slow.publishEvents = (events) => {
    read += events.length;
    return new Promise((resolve) => {
      confirmations.push(resolve);
    });
  };
  const events = createTelemetry(createRegistry("relay"), createLogger("relay", "silent"));
  running.push(
    relay({ log: log.as("relay"), bus: slow, clock, events, reportRewind }, stop.signal),
  );
  await vi.waitFor(() => expect(read).toBe(relayLimits.eventsAheadMax), { timeout: 90_000 });
  confirmations.shift()?.();
  await vi.waitFor(() => expect(read).toBe(relayLimits.eventsAheadMax + relayLimits.pageEvents), {
    timeout: 90_000,
  });
  stop.abort();
  for (const confirm of confirmations) confirm();
});
