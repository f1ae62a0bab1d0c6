/** A durable PostgreSQL for all compared implementations, each with its own database. */
import { createPostgresLog, type EventLog, migrateLog } from "@trainyard/event-log";
import { startTestPostgres, type TestPostgres } from "@trainyard/testing";
import pg from "pg";
import { category } from "./payload.ts";

export type BenchServer = AsyncDisposable & {
  readonly postgres: TestPostgres;
  /** The superuser's connection string to a database, which is created if it does not exist. */
  database(name: string): Promise<string>;
  /** A client of the log in the named database, which is migrated if it is new. */
  log(name: string): Promise<EventLog>;
  /** The connection string of the client of the log in the named database. */
  logUrl(name: string): Promise<string>;
};

const role = "ty_bench";
const roles = { categories: { [category]: role }, consumers: { bench: role, relay: role } };

export async function startBenchServer(
  settings: Record<string, string | number> = {},
): Promise<BenchServer> {
  const postgres = await startTestPostgres({
    fsync: true,
    settings: { max_wal_size: "8GB", shared_buffers: "1GB", ...settings },
  });
  await withClient(postgres.url(), (client) =>
    client.query(`create role ty_migrator; create role ${role} login`),
  );
  const created = new Set<string>();
  const migrated = new Set<string>();
  const database = async (name: string): Promise<string> => {
    if (!created.has(name)) {
      await withClient(postgres.url(), (client) => client.query(`create database ${name}`));
      created.add(name);
    }
    return postgres.url({ database: name });
  };
  const logUrl = async (name: string): Promise<string> => {
    const url = await database(name);
    if (!migrated.has(name)) {
      await withClient(url, (client) => migrateLog(client, { roles }));
      migrated.add(name);
    }
    return postgres.url({ user: role, database: name });
  };
  return {
    postgres,
    database,
    logUrl,
    log: async (name) => createPostgresLog({ connectionString: await logUrl(name) }),
    [Symbol.asyncDispose]: () => postgres[Symbol.asyncDispose](),
  };
}

export async function withClient<Value>(
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
