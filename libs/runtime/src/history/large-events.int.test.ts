/** The log of many large events is read with a time for a statement in which a page by number would not arrive. */
import { randomBytes } from "node:crypto";
import {
  bytesOfEvents,
  createPostgresLog,
  type EventLog,
  logLimits,
  migrateLog,
  newEventId,
  type StoredEvent,
} from "@trainyard/event-log";
import {
  ensureRoles,
  openLogDatabase,
  type TestDatabase,
  withClient,
} from "@trainyard/event-log/testing";
import { createMemoryBus } from "@trainyard/bus/testing";
import { systemClock } from "@trainyard/kernel/system-clock";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LogFold } from "../folds/log-fold.ts";
import { emptyMeta } from "../work/correlation.ts";
import { EventFeed } from "./event-feed.ts";
import { LogHistory } from "./log-history.ts";
import { streamEvents } from "./stream-events.ts";

const stream = "measurement-1.1";
const commits = 10;
const perCommit = 40;
const count = commits * perCommit;
const positions = Array.from({ length: count }, (_, index) => index + 1);
const positionOf = ({ position }: StoredEvent): number => position;

let database: TestDatabase;
let log: EventLog;
beforeAll(async () => {
  database = await openLogDatabase();
  await withClient(database.url(), async (client) => {
    await ensureRoles(client, ["ty_large"]);
    await migrateLog(client, {
      roles: { categories: { measurement: "ty_large" }, consumers: {} },
    });
  });
  const connectionString = database.url("ty_large");
  await using writer = createPostgresLog({ connectionString });
  // Random text, which the database cannot compress.
  const body = JSON.stringify({ scalars: randomBytes(90_000).toString("hex") });
  for (let commit = 0; commit < commits; commit += 1) {
    const type = "dev.trainyard.measurement.ValidationReported.v1";
    const events = Array.from({ length: perCommit }, () => ({ id: newEventId(), type, body }));
    const writes = [{ stream, expectedVersion: commit * perCommit, events }];
    await writer.append({ commitId: newEventId(), writes, guards: [], meta: emptyMeta });
  }
  log = createPostgresLog({ connectionString, statementTimeoutMs: 120 });
});
afterAll(async () => {
  await log[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

test("a history and a feed of large events have every one, in pages with a bound in bytes", async () => {
  await using feed = await EventFeed.open(log, createMemoryBus().connect("test"), systemClock);
  const history = new LogHistory(log);
  const never = new AbortController().signal;
  for (const next of [
    (after: number) => feed.next(after, never),
    (after: number) => history.after(after, 1_000),
  ]) {
    const read: number[] = [];
    while (read.length < count) {
      const page = await next(read.length);
      expect(bytesOfEvents(page)).toBeLessThanOrEqual(logLimits.pageBytesMax);
      read.push(...page.map(positionOf));
    }
    expect(read).toEqual(positions);
  }
  expect(await history.after(count, 1_000)).toEqual([]);
  expect(history.isAtEnd).toBe(true);
});

test("a fold of a log with large events, and of a stream, has every one", async () => {
  const fold = (entries: Map<string, number>, event: StoredEvent): void => {
    entries.set("events", (entries.get("events") ?? 0) + 1);
    entries.set("last", event.position);
  };
  const spec = { stream: "measurement-0", schema: "large", what: "events", fold };
  const deps = { log, logger: pino({ level: "silent" }) };
  const entries = await LogFold.rebuilt<number>(deps, spec, count);
  expect(Object.fromEntries(entries)).toEqual({ events: count, last: count });
  const ofStream: number[] = [];
  for await (const event of streamEvents(log, stream)) ofStream.push(event.position);
  expect(ofStream).toEqual(positions);
});

test("the chain of a log with large events is verified in pages with a bound in bytes", async () => {
  for await (const finding of log.verify(0)) expect(finding).toBeNull();
});
