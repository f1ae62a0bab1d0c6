/** A log on a server that the test started. */
import type { TestPostgres } from "@trainyard/testing";
import pg from "pg";
import { contractRoles, type LogUnderTest } from "../contract.ts";
import type { EventLog } from "../port.ts";
import { migrateLog } from "../postgres/migrate.ts";
import { createPostgresLog } from "../postgres/postgres-log.ts";
import { withClient } from "./test-database.ts";

const database = "trainyard";

/** Creates the roles and a migrated database. Once per server. */
export async function prepareServer(server: TestPostgres): Promise<void> {
  await withClient(server.url(), async (client) => {
    await client.query("create role ty_migrator");
    for (const role of ["ty_experiments", "ty_searcher", "ty_reader"]) {
      await client.query(`create role ${role} login`);
    }
    await client.query(`create database ${database}`);
  });
  await withClient(server.url({ database }), (client) =>
    migrateLog(client, { roles: contractRoles }),
  );
}

export type PostgresUnderTest = LogUnderTest & {
  /** Runs statements as the superuser. */
  sql<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
};

/** Reduces the events per partition, so that a test reaches many partitions; the server's log must still be empty. */
export async function dividePartitions(
  server: TestPostgres,
  events: number,
  count: number,
): Promise<void> {
  await withClient(server.url({ database }), async (client) => {
    await client.query("set role ty_migrator");
    const { rows } = await client.query<{ name: string }>(
      "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'log.events'::regclass",
    );
    for (const { name } of rows) await client.query(`drop table ${name}`);
    await client.query(`create or replace function log.partition_size() returns bigint
      language sql immutable parallel safe as $$ select ${events}::bigint $$`);
    for (let partition = 0; partition < count; partition += 1) {
      await client.query("select log.ensure_partitions($1)", [partition * events]);
    }
  });
}

/** Empties the server's migrated log and opens it. */
export async function emptyLog(server: TestPostgres): Promise<PostgresUnderTest> {
  const subject = openLog(server);
  // A truncation would replace the files of each partition, which takes far longer than to delete a few rows.
  await subject.sql(`do $$ begin
    delete from log.commits; delete from log.events; delete from log.streams; delete from log.cursors;
    delete from log.parked; delete from log.leases; delete from log.snapshots;
  end $$`);
  return subject;
}

/** Opens the server's log without emptying it. */
function openLog(server: TestPostgres): PostgresUnderTest {
  const pool = new pg.Pool({ connectionString: server.url({ database }), max: 2 });
  const logs: EventLog[] = [];
  const sql = async <Row extends pg.QueryResultRow>(
    text: string,
    values: unknown[] = [],
  ): Promise<Row[]> => (await pool.query<Row>(text, values)).rows;
  return {
    sql,
    as(role) {
      const log = createPostgresLog({ connectionString: server.url({ user: role, database }) });
      logs.push(log);
      return log;
    },
    tamper: tamperBy(sql),
    async [Symbol.asyncDispose]() {
      await Promise.all(logs.map((log) => log[Symbol.asyncDispose]()));
      await pool.end();
    },
  };
}

function tamperBy(sql: PostgresUnderTest["sql"]): LogUnderTest["tamper"] {
  return {
    async editBody(position, body) {
      await sql("update log.events set body = $2 where position = $1", [position, body]);
    },
    async removeEvent(position) {
      await sql("delete from log.events where position = $1", [position]);
    },
    async removeCommit(position) {
      await sql("delete from log.commits where position = $1", [position]);
    },
    async exchange(first, second) {
      const move = "update log.events set position = $2 where position = $1";
      const [free] = await sql<{ at: number }>("select max(position) + 1 as at from log.events");
      await sql(move, [first, free?.at]);
      await sql(move, [second, first]);
      await sql(move, [free?.at, second]);
    },
    async editMeta(position, authid) {
      const text = `update log.commits set meta = (meta::jsonb || jsonb_build_object('authid', $2::text))::text
        where position = (select min(position) from log.commits where position >= $1)`;
      await sql(text, [position, authid]);
    },
    async cut(position) {
      await sql("delete from log.commits where position >= $1", [position]);
      await sql("delete from log.events where position >= $1", [position]);
    },
    async shiftLease(lease, ms) {
      const text = `update log.leases set expires_at = expires_at + make_interval(secs => $2 / 1000.0)
        where lease = $1`;
      await sql(text, [lease, ms]);
    },
    async shiftHeadTime(ms) {
      const text = `update log.commits set time_ms = time_ms + $1
        where position = (select max(position) from log.commits)`;
      await sql(text, [ms]);
    },
  };
}
