import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { type Bus, createNatsBus, feedSubject } from "@trainyard/bus";
import { startNats, type TestNats } from "@trainyard/bus/testing";
import { drawInteger } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { type EventPlace, LeavingEvent } from "@trainyard/outbound";
import { serviceMeta } from "@trainyard/runtime";
import { HTTP } from "cloudevents";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { leavingEvent } from "../../testing/leaving.ts";
import type { Sink } from "../dispatch/sink.ts";
import { openNatsSink } from "./nats-sink.ts";

const soon = { timeout: 30_000, interval: 20 };
const name = "nightly";

let server: TestNats;
let bus: Bus;
let sink: Sink;
let stop: AbortController;
let settled: EventPlace;
let failures: (string | null)[];
const programs = new Set<NatsConnection>();

beforeAll(async () => {
  server = await startNats();
  bus = await createNatsBus({ servers: server.url, name: "feeds" });
});
afterAll(async () => {
  await bus[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

beforeEach(async () => {
  stop = new AbortController();
  settled = { position: 0, event: "" };
  failures = [];
  sink = await openNatsSink({ bus, clock: systemClock, lookMs: 50, againMs: 300 })({
    ...{ name, from: settled, signal: stop.signal },
    settled: (place) => {
      settled = place;
    },
    failed: (sentence) => failures.push(sentence),
  });
});
afterEach(async () => {
  for (const one of programs) await one.close();
  programs.clear();
  stop.abort();
  await sink[Symbol.asyncDispose]();
});

function event(position: number): LeavingEvent {
  const id = `00000000-0000-7000-8000-${String(position).padStart(12, "0")}`;
  const stored = {
    ...{ position, stream: "pool-a", version: position, id, timeMs: 1, commitId: id, body: "{}" },
    ...{ type: "dev.trainyard.pool.PoolRemoved.v1", meta: serviceMeta("scheduler") },
  };
  return new LeavingEvent(stored, "e1");
}

const page = (from: number, until: number) => ({
  events: Array.from({ length: until - from + 1 }, (_, n) => event(from + n)),
  upTo: { position: until, event: event(until).stored.id },
});

/**
 * A program as the documentation has it: it answers an event unless it has not seen the one that this follows. It
 * loses its connection, and all that it knows, after so many events.
 */
async function program(events: number, seen: (position: number) => void): Promise<void> {
  const connection = await connect({ servers: server.url, reconnect: false });
  programs.add(connection);
  let last = 0;
  let left = events;
  for await (const message of connection.subscribe(feedSubject(name))) {
    const follows = Number(message.headers?.get("Ty-Follows") || 0);
    if (follows > last) continue;
    const position = Number(message.headers?.get("ce-sequence"));
    last = Math.max(last, position);
    seen(position);
    // The last event before the loss is seen, and its answer may be lost.
    if (left > 0) message.respond();
    if (left <= 0) break;
    left -= 1;
  }
  await connection.close();
  programs.delete(connection);
}

const unique = (positions: readonly number[]): readonly number[] => [...new Set(positions)];
const upTo = (last: number): readonly number[] => Array.from({ length: last }, (_, n) => n + 1);

test("a program that loses connection and memory at 50 random points sees each event, in order without repeats", async () => {
  const last = 600;
  const feeding = (async () => {
    for (let from = 1; from <= last; from += 20) await sink.take(page(from, from + 19));
  })();
  const seen: number[] = [];
  for (let life = 0; life < 50; life += 1) {
    await program(drawInteger(11, "left", life, 12), (position) => seen.push(position));
  }
  void program(10_000, (position) => seen.push(position));
  await feeding;
  await vi.waitFor(() => expect(settled.position).toBe(last), soon);
  expect(unique(seen)).toEqual(upTo(last));
}, 120_000);

test("without a listener the events wait, and the subscription shows why", async () => {
  await sink.take(page(1, 3));
  await vi.waitFor(() => expect(failures.at(-1)).toMatch(/no program listens/), soon);
  expect(settled.position).toBe(0);
  const seen: number[] = [];
  void program(3, (position) => seen.push(position));
  await vi.waitFor(() => expect(settled.position).toBe(3), soon);
  expect(unique(seen)).toEqual([1, 2, 3]);
  expect(failures.at(-1)).toBeNull();
});

test("an event without an answer comes again, and the place stays before it", async () => {
  const connection = await connect({ servers: server.url });
  const seen: number[] = [];
  connection.subscribe(feedSubject(name), {
    callback: (_error, message) => {
      const position = Number(message.headers?.get("ce-sequence"));
      seen.push(position);
      if (position !== 2 || seen.filter((one) => one === 2).length > 1) message.respond();
    },
  });
  await connection.flush();
  await sink.take(page(1, 3));
  await vi.waitFor(() => expect(settled.position).toBe(3), soon);
  expect(seen).toEqual([1, 2, 3, 2]);
  await connection.close();
});

test("a server that lost all of its data loses no event", async () => {
  const seen: number[] = [];
  await server.kill();
  await server.wipe();
  await sink.take(page(1, 5));
  await server.start();
  const listening = async (): Promise<void> => {
    await program(100, (position) => seen.push(position)).catch(() => {});
  };
  void listening();
  await vi.waitFor(() => expect(settled.position).toBe(5), soon);
  expect(unique(seen)).toEqual([1, 2, 3, 4, 5]);
});

test("at most 256 events wait for answers", async () => {
  let taken = false;
  void sink.take(page(1, 300)).then(() => {
    taken = true;
  });
  await new Promise((done) => setTimeout(done, 200));
  expect(taken).toBe(false);
  void program(1_000, () => {});
  await vi.waitFor(() => expect(settled.position).toBe(300), soon);
  expect(taken).toBe(true);
});

test("nothing is kept of the pages without an event that come after an unanswered one", async () => {
  await sink.take(page(1, 1));
  const places = Array.from({ length: 1_000 }, (_, n) => ({ position: n + 2, event: "" }));
  const kept = places.map((place) => new WeakRef(place));
  for (let place = places.pop(); place !== undefined; place = places.pop()) {
    await sink.take({ events: [], upTo: place });
  }
  setFlagsFromString("--expose-gc");
  // A weak reference keeps its object until the turn ends.
  await new Promise(setImmediate);
  (runInNewContext("gc") as () => void)();
  expect(kept.filter((place) => place.deref() !== undefined).length).toBeLessThan(10);
});

test("npm's cloudevents reads the messages, also without a body and with a name that is not ASCII", async () => {
  const connection = await connect({ servers: server.url });
  programs.add(connection);
  const messages = connection.subscribe(feedSubject(name));
  await connection.flush();
  const events = [
    leavingEvent(1, "trial-12.3", { text: "a body" }),
    leavingEvent(2, "trial-12.3", { text: "é".repeat(40_000) }),
    leavingEvent(3, "name-1/100 % é", { text: "" }),
  ];
  await sink.take({ events, upTo: { position: 3, event: "" } });
  const read: unknown[] = [];
  for await (const message of messages) {
    message.respond();
    // The package leaves the percent-decoding of CloudEvents' binding for NATS to its caller.
    const headers = Object.fromEntries(
      [...(message.headers ?? [])].map(([key, [value = ""]]) => [key, decodeURIComponent(value)]),
    );
    const body = message.data.length === 0 ? undefined : message.string();
    read.push(JSON.parse(JSON.stringify(HTTP.toEvent({ headers, body }))));
    if (read.length === events.length) break;
  }
  expect(read).toEqual(events.map(({ shown }) => JSON.parse(JSON.stringify(shown))));
});
