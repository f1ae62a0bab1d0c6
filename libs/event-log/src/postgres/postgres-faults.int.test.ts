/**
 * Tests of failures that need a real server: failing batches, lost connections, old snapshots, roles that exceed their
 * rights.
 */
import { startTestPostgres, type TestPostgres } from "@trainyard/testing";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  collect,
  committed,
  eventOf,
  everything,
  requestOf,
  writeOf,
} from "../contract/harness.ts";
import { logLimits } from "../limits.ts";
import type { AppendRequest, AppendResult, EventLog } from "../port.ts";
import { clientConfig, LazyConnection } from "./connection.ts";
import { emptyLog, type PostgresUnderTest, prepareServer } from "../testing/postgres-harness.ts";
import { Reader } from "./reads.ts";
import { verifyChain } from "./verify.ts";

let server: TestPostgres;
let subject: PostgresUnderTest;
let log: EventLog;
beforeAll(async () => {
  server = await startTestPostgres();
  await prepareServer(server);
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(async () => {
  subject = await emptyLog(server);
  log = subject.as("ty_experiments");
  return () => subject[Symbol.asyncDispose]();
});

const connect = async (user: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: server.url({ user, database: "trainyard" }) });
  client.on("error", () => {}); // Tests terminate connections on the server.
  await client.connect();
  return client;
};

test("a commit that makes the whole batch fail does not affect the other commits", async () => {
  await subject.sql(`create or replace function log.poison() returns trigger language plpgsql
    as $$ begin raise exception 'poisoned'; end $$`);
  await subject.sql(`create trigger poison before insert on log.events
    for each row when (new.body = '{"poison":true}') execute function log.poison()`);
  try {
    const poisoned = {
      stream: "trial-9.9",
      expectedVersion: 0,
      events: [eventOf('{"poison":true}')],
    };
    const outcomes = await Promise.allSettled(
      [writeOf("trial-1.1", 0), writeOf("trial-1.2", 0), poisoned, writeOf("trial-1.3", 0)].map(
        (write) => log.append(requestOf([write])),
      ),
    );
    expect(outcomes.map(({ status }) => status)).toEqual([
      "fulfilled",
      "fulfilled",
      "rejected",
      "fulfilled",
    ]);
    const stored = await everything(log);
    expect(stored.map(({ position }) => position)).toEqual([1, 2, 3]);
    expect(await collect(log.verify(0))).toEqual([]);
  } finally {
    await subject.sql("drop trigger poison on log.events");
  }
});

test("a connection that is cut repeatedly neither loses nor duplicates a commit", async () => {
  const streams = 40;
  const perStream = 25;
  let written = 0;
  const cutAt = new Set([50, 200, 350, 500, 650, 800]);
  const cut = (): Promise<unknown> =>
    subject.sql(`select pg_terminate_backend(pid) from pg_stat_activity
      where usename = 'ty_experiments' and pid <> pg_backend_pid()`);
  const write = async (stream: string): Promise<void> => {
    for (let version = 0; version < perStream; version += 1) {
      const result = await insistently(log, requestOf([writeOf(stream, version)]));
      expect(result).toMatchObject({ streams: [{ stream, version: version + 1 }] });
      written += 1;
      // The other writers continue meanwhile.
      if (cutAt.has(written)) await cut();
    }
  };
  await Promise.all(Array.from({ length: streams }, (_, index) => write(`trial-1.${index + 1}`)));
  const stored = await everything(log);
  expect(stored.map(({ position }) => position)).toEqual(
    Array.from({ length: streams * perStream }, (_, index) => index + 1),
  );
  expect(await collect(log.verify(0))).toEqual([]);
});

/** Repeats the same commit until it gets an answer, like every caller. */
async function insistently(into: EventLog, request: AppendRequest): Promise<AppendResult> {
  for (;;) {
    try {
      return await into.append(request);
    } catch (error) {
      expect(error).toMatchObject({ name: "Fault" });
    }
  }
}

test("a connection to a server that became read-only is dropped, and a writable server accepts the commit", async () => {
  await committed(log, [writeOf("trial-1.1", 0)]);
  const appender = async (): Promise<number | undefined> => {
    const text = `select pid from pg_stat_activity
      where usename = 'ty_experiments' and query like '%log.append%' and pid <> pg_backend_pid()`;
    return (await subject.sql<{ pid: number }>(text))[0]?.pid;
  };
  const first = await appender();
  expect(first).toBeGreaterThan(0);
  await subject.sql("alter system set default_transaction_read_only = on");
  await subject.sql("select pg_reload_conf()");
  try {
    // The server accepts commits until it has read its new settings. Each commit is a new one, since a repeat would
    // write nothing.
    let version = 1;
    const append = async (): Promise<unknown> => {
      const result = await log.append(requestOf([writeOf("trial-1.1", version)]));
      version += 1;
      return result;
    };
    await expect
      .poll(() => append().catch((error: unknown) => error))
      .toMatchObject({ code: "log_read_only" });
    await expect.poll(appender).not.toBe(first);
  } finally {
    await subject.sql("alter system reset default_transaction_read_only");
    await subject.sql("select pg_reload_conf()");
  }
  const request = requestOf([writeOf("trial-1.2", 0)]);
  expect(await insistently(log, request)).toMatchObject({ kind: "committed" });
});

test("a commit leaves no dead row behind while an old snapshot stays open", async () => {
  await subject.sql("select pg_stat_reset()");
  const reader = await connect("ty_reader");
  await reader.query("begin isolation level repeatable read");
  await reader.query("select count(*) from log.commits");
  const writer = subject.as("ty_experiments");
  for (let commit = 0; commit < 300; commit += 1) {
    // Each stream is created and then continued twice.
    const write = writeOf(`trial-1.${commit % 100}`, 2 * Math.floor(commit / 100), 2);
    await committed(writer, [write]);
  }
  // A connection reports its statistics when it closes.
  await writer[Symbol.asyncDispose]();
  const { rows } = await reader.query<{ count: string }>("select count(*) from log.commits");
  expect(rows).toEqual([{ count: "0" }]);
  await reader.end();
  await expect
    .poll(() => statistics())
    .toEqual({ inserted: 300 + 600 + 100, updated: 0, deleted: 0 });
});

async function statistics() {
  const [row] = await subject.sql(`select sum(n_tup_ins)::int as inserted,
      sum(n_tup_upd)::int as updated, sum(n_tup_del)::int as deleted
    from pg_stat_user_tables where schemaname = 'log' and relname ~ '^(commits|streams|cursors|events_p.*)$'`);
  return row;
}

describe("a role", () => {
  test("can write and call only through the functions granted to it", async () => {
    await committed(log, [writeOf("trial-1.1", 0)]);
    const client = await connect("ty_experiments");
    const forbidden = [
      "insert into log.streams values ('trial-1.2', 1)",
      "update log.events set body = '{}'",
      "delete from log.commits",
      "truncate log.commits",
      "insert into log.owners values ('category', 'search', 'ty_experiments')",
      "select log.write_cursor('experiments', 0, 1, 0, null)",
      "select log.park(1, 'experiments', 0, '{}', '{}', '{}', '{}', '{}', '{}')",
      "select log.ensure_partitions(0)",
      "create table log.mine ()",
      "set role ty_migrator",
    ];
    for (const statement of forbidden) {
      await expect(client.query(statement), statement).rejects.toMatchObject({ code: "42501" });
    }
    await client.end();
  });

  test("cannot make append call functions of the role", async () => {
    const client = await connect("ty_experiments");
    await client.query("set search_path = pg_temp, pg_catalog");
    await client.query(`create function pg_temp.sha256(bytea) returns bytea language sql
      as $$ select '\\x00'::bytea $$`);
    const { rows } = await client.query<{ hash: string }>(
      "select proconfig::text as hash from pg_proc where proname = 'append' and pronamespace = 'log'::regnamespace",
    );
    expect(rows[0]?.hash).toContain("search_path=pg_catalog, pg_temp");
    await client.end();
  });
});

describe("reading the log in pages", () => {
  test("returns events that were committed after the previous page", async () => {
    await committed(log, [writeOf("trial-1.1", 0, 150)]);
    expect((await log.readAll(0, 100)).length).toBe(100);
    await committed(log, [writeOf("trial-1.2", 0, 10)]);
    expect((await log.readAll(100, 100)).map(({ position }) => position)).toEqual(
      Array.from({ length: 60 }, (_, index) => 101 + index),
    );
  });

  test("gives each event the attributes of its own commit", async () => {
    for (let commit = 1; commit <= 130; commit += 1) {
      const events = 1 + (commit % 3);
      await committed(log, [writeOf(`trial-1.${commit}`, 0, events)], {
        meta: { ...requestOf([]).meta, workspace: `w-${commit}` },
      });
    }
    for (const size of [1, 7, 100]) {
      const seen = [];
      for (let after = 0; ; ) {
        const page = await log.readAll(after, size);
        seen.push(...page);
        if (page.length === 0) break;
        after = page.at(-1)?.position ?? after;
      }
      expect(seen.length).toBe(await log.head());
      for (const event of seen) {
        expect(event.meta.workspace).toBe(`w-${event.stream.split(".")[1]}`);
      }
    }
  });

  test("stops at a missing event instead of skipping it", async () => {
    await committed(log, [writeOf("trial-1.1", 0, 5)]);
    await subject.tamper.removeEvent(3);
    await expect(log.readAll(0, 100)).rejects.toMatchObject({ code: "log_broken" });
  });
});

test("a log that grows while it is verified has no finding", async () => {
  const write = async (from: number, commits: number): Promise<void> => {
    const numbers = Array.from({ length: commits }, (_, index) => from + index);
    await Promise.all(numbers.map((n) => committed(log, [writeOf(`trial-1.${n}`, 0)])));
  };
  const pages = logLimits.verifyPageCommits;
  await write(1, pages + 10);
  /** The second page of commits includes commits that were appended after the events of the first page were read. */
  class ReaderOfGrowing extends Reader {
    #pages = 0;
    override async rows<Row extends unknown[]>(...asked: Parameters<Reader["rows"]>) {
      if (asked[0] === "verify_commits" && ++this.#pages === 2) await write(pages + 11, 20);
      return super.rows<Row>(...asked);
    }
  }
  const url = server.url({ user: "ty_experiments", database: "trainyard" });
  const config = clientConfig({ connectionString: url });
  const pool = new pg.Pool(config);
  try {
    const seen: number[] = [];
    const reader = new ReaderOfGrowing(pool, new LazyConnection(config));
    expect(await collect(verifyChain(reader, 0, (position) => seen.push(position)))).toEqual([]);
    expect(seen).toEqual([pages, pages + 30]);
  } finally {
    await pool.end();
  }
});

test("an erased body keeps its position and its digest, and the chain stays valid", async () => {
  await committed(log, [writeOf("trial-1.1", 0, 3)]);
  await subject.sql(`update log.events set erased = sha256(convert_to(body, 'UTF8')), body = null
    where position = 2`);
  expect((await log.read("trial-1.1", 0, 10)).map(({ body }) => body)).toEqual([
    '{"n":1}',
    "{}",
    '{"n":3}',
  ]);
  expect(await collect(log.verify(0))).toEqual([]);
  await subject.sql("update log.events set erased = sha256('') where position = 2");
  expect(await collect(log.verify(0))).toMatchObject([{ position: expect.any(Number) }]);
});

test("an event that names another commit is reported", async () => {
  await committed(log, [writeOf("trial-1.1", 0, 2)]);
  await committed(log, [writeOf("trial-1.1", 2, 1)]);
  await subject.sql("update log.events set commit_position = 3 where position = 1");
  expect(await collect(log.verify(0))).toMatchObject([{ position: 1 }]);
  await subject.sql("update log.events set commit_position = 99 where position = 1");
  await expect(log.read("trial-1.1", 0, 10)).rejects.toMatchObject({ code: "log_broken" });
});
