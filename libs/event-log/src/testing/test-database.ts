/**
 * Databases for tests on one server per process, since a database takes a tenth of the processor time of a server. The
 * files of a worker run one after the other, so each has the server to itself. Roles belong to the server and stay. The
 * server ends with the process or with the test run.
 *
 * A test that stops, fills or configures its server starts a separate one instead (`startTestPostgres`).
 */
import { startTestPostgres, type TestPostgres } from "@trainyard/testing";
import pg from "pg";
import { migrateLog } from "../postgres/migrate.ts";

export type TestDatabase = AsyncDisposable & {
  /** Returns a connection string; by default the superuser's. */
  url(user?: string): string;
};

const template = "migrated_log";
const noOwners = { categories: {}, consumers: {} };

let server: Promise<TestPostgres> | undefined;
let migrated: Promise<void> | undefined;
let opened = 0;

/** Creates an empty database; disposing of it drops it. */
export async function openTestDatabase(): Promise<TestDatabase> {
  return create(await sharedServer(), "template1");
}

/** Creates a database with a migrated log whose categories have no owner yet. */
export async function openLogDatabase(): Promise<TestDatabase> {
  const shared = await sharedServer();
  migrated ??= migrate(shared);
  await migrated;
  return create(shared, template);
}

/** Creates the roles that the server does not have yet. */
export async function ensureRoles(client: pg.ClientBase, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await client.query(`do $$ begin create role ${pg.escapeIdentifier(name)} login;
      exception when duplicate_object or unique_violation then null; end $$`);
  }
}

function sharedServer(): Promise<TestPostgres> {
  // Autovacuum would start on the databases of earlier files.
  server ??= startTestPostgres({ settings: { autovacuum: "off", max_wal_size: "128MB" } });
  return server;
}

async function migrate(shared: TestPostgres): Promise<void> {
  await withClient(shared.url(), async (client) => {
    await ensureRoles(client, ["ty_migrator"]);
    await client.query(`create database ${template}`);
  });
  await withClient(shared.url({ database: template }), (client) =>
    migrateLog(client, { roles: noOwners }),
  );
}

async function create(shared: TestPostgres, from: string): Promise<TestDatabase> {
  opened += 1;
  const database = `test_${opened}`;
  await withClient(shared.url(), (client) =>
    client.query(`create database ${database} template ${from} strategy file_copy`),
  );
  return {
    url: (user = shared.user) => shared.url({ database, user }),
    [Symbol.asyncDispose]: () => withClient(shared.url(), (client) => drop(client, database)),
  };
}

/** Waits some seconds for connections that are being closed: a terminated connection would report an error. */
async function drop(client: pg.Client, database: string): Promise<void> {
  try {
    await client.query(`drop database ${database}`);
  } catch (error) {
    const isInUse = (error as pg.DatabaseError).code === "55006";
    if (!isInUse) throw error;
    await client.query(`drop database ${database} with (force)`);
  }
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
