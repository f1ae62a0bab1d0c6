/** A log on a server that the test started. */
import type { TestPostgres } from "@trainyard/testing";
import pg from "pg";
import { contractRoles, type LogUnderTest } from "../contract.ts";
import type { EventLog } from "../port.ts";
import { migrateLog } from "./migrate.ts";
import { createPostgresLog } from "./postgres-log.ts";

const database = "trainyard";

async function withClient<Value>(
  url: string,
  use: (client: pg.Client) => Promise<Value>,
): Promise<Value> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

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

/** The migrated log of the server, emptied. */
export async function emptyLog(server: TestPostgres): Promise<PostgresUnderTest> {
  const pool = new pg.Pool({ connectionString: server.url({ database }), max: 2 });
  const logs: EventLog[] = [];
  const sql = async <Row extends pg.QueryResultRow>(
    text: string,
    values: unknown[] = [],
  ): Promise<Row[]> => (await pool.query<Row>(text, values)).rows;
  await sql(`truncate log.commits, log.events, log.streams, log.cursors, log.parked, log.leases,
    log.snapshots`);
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
      await sql(move, [first, 9_999_999]);
      await sql(move, [second, first]);
      await sql(move, [9_999_999, second]);
    },
    async editMeta(position, authid) {
      const text = `update log.commits set meta = (meta::jsonb || jsonb_build_object('authid', $2::text))::text
        where position = (select min(position) from log.commits where position >= $1)`;
      await sql(text, [position, authid]);
    },
  };
}
