/** Tests of pages that take longer than a statement may: the rows of events sleep while they are read. */
import { startTestPostgres, type TestPostgres } from "@trainyard/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { committed, everything, writeOf } from "../contract/harness.ts";
import type { EventLog, StoredEvent } from "../port.ts";
import { emptyLog, type PostgresUnderTest, prepareServer } from "../testing/postgres-harness.ts";
import { createPostgresLog } from "./postgres-log.ts";

const statementTimeoutMs = 150;

let server: TestPostgres;
let subject: PostgresUnderTest;
let all: readonly StoredEvent[];
let reader: EventLog;
beforeAll(async () => {
  server = await startTestPostgres();
  await prepareServer(server);
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(async () => {
  subject = await emptyLog(server);
  const log = subject.as("ty_experiments");
  await committed(log, [writeOf("trial-1.1", 0, 20)]);
  all = await everything(log);
  const connectionString = server.url({ user: "ty_reader", database: "trainyard" });
  reader = createPostgresLog({ connectionString, statementTimeoutMs });
  return async () => {
    await reader[Symbol.asyncDispose]();
    await subject.sql("drop policy slow on log.events");
    await subject.sql("alter table log.events disable row level security");
    await subject[Symbol.asyncDispose]();
  };
});

/** Makes the rows of events sleep, by an expression of seconds. */
async function slowDown(seconds: string): Promise<void> {
  await subject.sql("alter table log.events enable row level security");
  await subject.sql(`create policy slow on log.events for select
    using (pg_sleep(${seconds}) is not null)`);
}

const some = { names: ["trial-1.1"], beginnings: [] };

test("a page that is too slow to read is read in halves, and is complete", async () => {
  await slowDown("0.012");
  expect(await reader.readAll(0, 100)).toEqual(all);
  expect(await reader.readAll(0, 15)).toEqual(all.slice(0, 15));
  expect(await reader.read("trial-1.1", 0, 100)).toEqual(all);
  expect(await reader.readAt(all.map(({ position }) => position))).toEqual(all);
  const first = await reader.readSome(some, 0, 100);
  expect(first.events).toEqual(all.slice(0, first.events.length));
  expect(first.scannedTo).toBe(first.events.length);
});

test("an event that alone is too slow has all the time that it needs", async () => {
  await slowDown(`case when position = 7 then ${(2 * statementTimeoutMs) / 1_000} else 0 end`);
  expect(await reader.readAll(0, 100)).toEqual(all);
  expect(await reader.read("trial-1.1", 4, 100)).toEqual(all.slice(4));
});

test("a lookup of one event keeps the limit of time", async () => {
  await slowDown("1");
  await expect(reader.readAll(3, 1)).rejects.toMatchObject({ code: "log_timeout" });
});
