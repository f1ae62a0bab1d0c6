/** Migrates a log of an earlier version in place and checks that its data is unchanged. */
import { startTestPostgres } from "@trainyard/testing";
import pg from "pg";
import { expect, test } from "vitest";
import { collect, committed, everything, noMeta, requestOf, writeOf } from "../contract/harness.ts";
import { appendByHand, forms } from "../testing/append-by-hand.ts";
import {
  createDatabase,
  dividePartitions,
  migrateThen,
  migrateToday,
  openLog,
} from "../testing/postgres-harness.ts";

/** The number of migrations in version 0.1, which has a row and a version for each stream. */
const released = 5;

test("a log with the first five migrations keeps its events, hashes, versions, cursors, leases and commit ids", async () => {
  await using server = await startTestPostgres();
  await createDatabase(server);
  await migrateThen(server, released);
  await dividePartitions(server, 10, 6);
  const client = new pg.Client({
    connectionString: server.url({ user: "ty_experiments", database: "trainyard" }),
  });
  await client.connect();
  const old = (...requests: Parameters<typeof appendByHand>[1]) =>
    appendByHand(client, requests, {}, forms.first);
  // Positions 1-3, 4-13 across a partition boundary, 14-23 across another one, and 24.
  const first = requestOf([writeOf("experiment-1", 0, 3)], {
    meta: { ...noMeta, authid: "admin" },
  });
  const cursor = { consumer: "experiments", partition: 0, position: 3, part: 1 };
  const second = requestOf([writeOf("trial-1.1", 0, 10)], { cursor });
  await old(first);
  await old(second, requestOf([writeOf("trial-1.2", 0, 9), writeOf("experiment-1", 3)]));
  const moving = requestOf([], { cursor: { ...cursor, position: 5, part: 0 } });
  await old(requestOf([writeOf("trial-1.1", 10)]), moving);
  await client.query("select log.acquire_lease('experiments/0', 'before', 60000)");
  await client.query("select log.release_lease('experiments/0', 'before')");
  await client.query("select log.acquire_lease('experiments/0', 'holder', 60000)");
  await client.end();
  await using before = openLog(server);
  const stored = "select * from log.events order by position";
  const hashes = "select position, encode(hash, 'hex') as hash, meta from log.commits order by 1";
  const [events, commits] = [await before.sql(stored), await before.sql(hashes)];
  expect(events.length).toBe(24);

  await migrateToday(server);

  await using subject = openLog(server);
  expect(await subject.sql(stored)).toEqual(events);
  expect(await subject.sql(hashes)).toEqual(commits);
  const places = "select stream, first_partition, last_partition from log.streams order by 1";
  expect(await subject.sql(places)).toEqual([
    { stream: "experiment-1", first_partition: 0, last_partition: 2 },
    { stream: "trial-1.1", first_partition: 0, last_partition: 2 },
    { stream: "trial-1.2", first_partition: 1, last_partition: 2 },
  ]);
  const log = subject.as("ty_experiments");
  expect(await collect(log.verify(0))).toEqual([]);
  expect((await everything(log)).map(({ version }) => version)).toEqual(
    events.map(({ version }) => version as number),
  );
  expect(await log.cursor("experiments", 0)).toEqual({ position: 5, part: 0 });
  expect(await log.append(moving)).toMatchObject({ kind: "committed", repeated: true });
  // The holder keeps its lease and epoch, and the next holder gets the next epoch.
  expect(await log.acquireLease("experiments/0", "other", 60_000)).toBeNull();
  expect(await log.acquireLease("experiments/0", "holder", 60_000)).toMatchObject({ epoch: 2 });
  await log.releaseLease("experiments/0", "holder");
  expect(await log.acquireLease("experiments/0", "other", 60_000)).toMatchObject({ epoch: 3 });
  // A commit from before the migration is a repeat for its role, and unknown for another role.
  expect(await log.append(second)).toMatchObject({
    kind: "committed",
    position: 13,
    repeated: true,
    streams: [{ stream: "trial-1.1", version: 10 }],
  });
  const stolen = requestOf([writeOf("search-1", 0)], { commitId: first.commitId });
  expect(await subject.as("ty_searcher").append(stolen)).toMatchObject({ repeated: false });
  await committed(log, [writeOf("trial-1.1", 11, 2), writeOf("trial-1.2", 9)]);
  expect(await log.append(requestOf([writeOf("trial-1.1", 11)]))).toMatchObject({
    kind: "conflict",
    actualVersion: 13,
  });
  expect(await collect(log.verify(0))).toEqual([]);
});
