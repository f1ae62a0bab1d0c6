import { mkdtempSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPostgresLog, newEventId } from "@trainyard/event-log";
import { copyOfVersions } from "@trainyard/event-log/testing";
import { emptyMeta } from "@trainyard/runtime";
import { startTestPostgres, type TestPostgres } from "@trainyard/testing";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ensureDatabase, prepareDatabase } from "./database.ts";
import { readAnchorFile, verifyLog } from "./verify.ts";

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startTestPostgres();
});
afterAll(() => postgres[Symbol.asyncDispose]());

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Returns the stored form of each role's password. */
const verifiers = (): Promise<unknown[]> =>
  query(
    postgres.url(),
    "select rolname, rolpassword from pg_authid where rolname like 'ty_%' order by 1",
  );

const options = (database: string, adminUrl = postgres.url({ database })) => ({
  adminUrl,
  services: ["gateway", "checkpoint-gc"],
  passwords: { ty_gateway: "first", ty_checkpoint_gc: "second" },
});

test("two concurrent migrations create everything once, and a third one changes nothing", async () => {
  const both = await Promise.all([
    prepareDatabase(options("twice")),
    prepareDatabase(options("twice")),
  ]);
  expect(both.flatMap(({ created }) => created).toSorted()).toEqual([
    "database twice",
    "role ty_checkpoint_gc",
    "role ty_gateway",
    "role ty_migrator",
    "schema checkpoint_gc",
    "schema gateway",
  ]);
  expect(both[0].logVersion).toBeGreaterThan(0);
  expect(both[1].logVersion).toBe(both[0].logVersion);
  const before = await verifiers();
  expect((await prepareDatabase(options("twice"))).created).toEqual([]);
  expect(await verifiers()).toEqual(before);
});

test("each service logs in with its role, reads the log, and creates tables in its own schema only", async () => {
  await prepareDatabase(options("rights"));
  const url = postgres.url({ user: "ty_gateway", database: "rights" });
  await using log = createPostgresLog({ connectionString: url, applicationName: "test" });
  expect(await log.readAll(0, 1)).toEqual([]);
  await query(url, "create table gateway.mine (n int)");
  await expect(query(url, "create table checkpoint_gc.yours (n int)")).rejects.toThrow(
    /permission denied/,
  );
  await expect(query(url, "create table public.stray (n int)")).rejects.toThrow(
    /permission denied/,
  );
  await expect(query(url, "delete from log.events")).rejects.toThrow(/permission denied/);
});

test("a changed password is stored, and a password that is not given stays", async () => {
  const roles = (password: string | null) => [{ name: "ty_alpha", password, schema: "alpha" }];
  const stored = (): Promise<unknown[]> =>
    query(postgres.url(), "select rolpassword from pg_authid where rolname = 'ty_alpha'");
  const adminUrl = postgres.url({ database: "passwords" });
  await ensureDatabase(adminUrl, roles("one"), async () => {});
  const first = await stored();
  await ensureDatabase(adminUrl, roles(null), async () => {});
  expect(await stored()).toEqual(first);
  await ensureDatabase(adminUrl, roles("another"), async () => {});
  expect(await stored()).not.toEqual(first);
});

test("an administrator without superuser rights can prepare the database, also repeatedly", async () => {
  await using own = await startTestPostgres();
  await query(own.url(), "create role operator login createrole createdb");
  const adminUrl = own.url({ user: "operator", database: "managed" });
  expect((await prepareDatabase(options("managed", adminUrl))).created).toContain(
    "role ty_gateway",
  );
  expect((await prepareDatabase(options("managed", adminUrl))).created).toEqual([]);
  const url = own.url({ user: "ty_gateway", database: "managed" });
  await query(url, "create table gateway.mine (n int)");
  await using stack = new AsyncDisposableStack();
  const next = { ...options("managed", adminUrl), versions: await nextVersions(stack) };
  const service = new pg.Client(url);
  await service.connect();
  await expect(prepareDatabase(next)).rejects.toMatchObject({ code: "services_connected" });
  await service.end();
  expect((await prepareDatabase(next)).logVersion).toBe(2);
});

/** Returns a folder with the log's versions and a next one. */
async function nextVersions(stack: AsyncDisposableStack): Promise<string> {
  const folder = await copyOfVersions(stack);
  await writeFile(join(folder, "0002_next.sql"), "create table log.next (n integer);");
  return folder;
}

test("a migration that is due is refused while services are connected, and made when they are gone", async () => {
  await using stack = new AsyncDisposableStack();
  const current = options("upgraded");
  const next = { ...current, versions: await nextVersions(stack) };
  expect((await prepareDatabase(current)).logVersion).toBe(1);
  const connectAs = async (role: string, database = "upgraded"): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: postgres.url({ user: role, database }) });
    await client.connect();
    return client;
  };
  const connected = [await connectAs("ty_gateway"), await connectAs("ty_gateway")];
  connected.push(await connectAs("ty_checkpoint_gc"));
  await prepareDatabase(options("another"));
  const elsewhere = await connectAs("ty_gateway", "another");
  await expect(prepareDatabase(next)).rejects.toThrow(
    'the log is at version 1 and has to be migrated to 2, and services are connected (checkpoint-gc 1, gateway 2 connections): stop all services first, with "stopped: true" in the values of the chart or by hand, and migrate again',
  );
  expect((await prepareDatabase(current)).logVersion).toBe(1);
  for (const client of connected) await client.end();
  expect((await prepareDatabase(next)).logVersion).toBe(2);
  await elsewhere.end();
});

test("a refused migration leaves the passwords, with which running services connect again", async () => {
  await using stack = new AsyncDisposableStack();
  const current = options("kept");
  await prepareDatabase(current);
  const before = await verifiers();
  const service = new pg.Client(postgres.url({ user: "ty_gateway", database: "kept" }));
  await service.connect();
  const passwords = { ...current.passwords, ty_gateway: "changed" };
  const next = { ...current, passwords, versions: await nextVersions(stack) };
  await expect(prepareDatabase(next)).rejects.toMatchObject({ code: "services_connected" });
  expect(await verifiers()).toEqual(before);
  await service.end();
  await prepareDatabase(next);
  expect(await verifiers()).not.toEqual(before);
  await prepareDatabase({ ...current, versions: next.versions });
});

test("a service that connects during a migration undoes it", async () => {
  await using stack = new AsyncDisposableStack();
  const current = options("raced");
  const versions = await nextVersions(stack);
  await prepareDatabase(current);
  await writeFile(join(versions, "0003_slow.sql"), "select pg_sleep(0.5);");
  const migrating = prepareDatabase({ ...current, versions });
  const slow = "select 1 as found from pg_stat_activity where query like 'select pg_sleep%'";
  await expect.poll(() => query(postgres.url(), slow), { interval: 10 }).toEqual([{ found: 1 }]);
  const client = new pg.Client(postgres.url({ user: "ty_gateway", database: "raced" }));
  await client.connect();
  await expect(migrating).rejects.toMatchObject({ code: "services_connected" });
  await client.end();
  expect((await prepareDatabase(current)).logVersion).toBe(1);
});

test("a log that a newer version has migrated is refused with the way back", async () => {
  await using stack = new AsyncDisposableStack();
  const current = options("rolledback");
  await prepareDatabase({ ...current, versions: await nextVersions(stack) });
  await expect(prepareDatabase(current)).rejects.toThrow(
    "the log was migrated by a newer version of Trainyard (it is at 2, and this one knows 1): deploy that version again, or restore the backup made before it (docs/operate/backup.md)",
  );
});

test("a verification compares a log with an anchor, and writes nothing", async () => {
  await prepareDatabase(options("verified"));
  const adminUrl = postgres.url({ database: "verified" });
  const file = join(mkdtempSync(join(tmpdir(), "trainyard-migrate-")), "anchor.json");
  const url = postgres.url({ user: "ty_gateway", database: "verified" });
  await using log = createPostgresLog({ connectionString: url, applicationName: "test" });
  const write = async (expectedVersion: number): Promise<void> => {
    const events = [{ id: newEventId(), type: "dev.trainyard.token.TokenRevoked.v1", body: "{}" }];
    const writes = [{ stream: "token-a", expectedVersion, events }];
    await log.append({ commitId: newEventId(), writes, guards: [], meta: emptyMeta });
  };
  await write(0);
  await write(1);
  const { position, hash } = await log.anchor();
  writeFileSync(file, JSON.stringify({ position: String(position), hash, atMs: 1 }));
  const anchor = readAnchorFile(file);
  const chain = "chain: holds up to position";
  expect(await verifyLog(adminUrl, anchor)).toEqual({
    holds: true,
    lines: [`${chain} 2`, "anchor: holds up to position 2"],
  });
  await query(adminUrl, "delete from log.events where position > 1");
  await query(adminUrl, "delete from log.commits where position > 1");
  expect(await verifyLog(adminUrl, anchor)).toEqual({
    holds: false,
    lines: [
      `${chain} 1`,
      "anchor: does not hold up to position 2: the log ends at 1: 1 events up to the anchor at 2 are missing",
    ],
  });
  await query(adminUrl, "update log.events set body = '[]'");
  expect((await verifyLog(adminUrl, anchor)).lines[0]).toMatch(
    /^chain: does not hold at position 1: /,
  );
  writeFileSync(file, "{}");
  expect(() => readAnchorFile(file)).toThrow("did not write it");
});
