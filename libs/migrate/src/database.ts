/**
 * Creates the roles, schemas and tables that services need in PostgreSQL. Every step checks first, so all of it can be
 * repeated.
 */
import { migrateLog } from "@trainyard/event-log";
import { Client, escapeIdentifier, escapeLiteral } from "pg";
import { refuseWhileConnected } from "./connected.ts";
import { type DatabaseRole, databaseRoles, logRoles } from "./roles.ts";
import { scramMatches, scramVerifier } from "./scram.ts";

export type DatabaseOptions = {
  /**
   * The address of a role that may create roles and databases. Its path names the database, which is created if it is
   * missing.
   */
  readonly adminUrl: string;
  readonly services: readonly string[];
  /** The passwords by role. */
  readonly passwords: Readonly<Record<string, string>>;
  /** The folder of the log's versions; by default those of this version of Trainyard. */
  readonly versions?: string;
};

/** The databases, roles and schemas that were created. */
export type Prepared = {
  readonly database: string;
  readonly created: readonly string[];
  readonly logVersion: number;
};

/**
 * Updates the database, the roles with passwords and schemas, and the log's tables. Concurrent calls wait for each
 * other. Throws the errors of PostgreSQL, or a Fault of `migrateLog`.
 */
export async function prepareDatabase(options: DatabaseOptions): Promise<Prepared> {
  const roles = databaseRoles(options.services, options.passwords);
  let logVersion = 0;
  const created = await ensureDatabase(options.adminUrl, roles, async (client) => {
    await migrateLog(client, {
      roles: logRoles(options.services),
      guard: (due) => refuseWhileConnected(client, options.services, due),
      ...(options.versions === undefined ? {} : { versions: options.versions }),
    });
    const { rows } = await client.query<{ version: number }>(
      "select max(number) as version from log.migrations",
    );
    logVersion = rows[0]?.version ?? 0;
  });
  return { database: databaseOf(options.adminUrl), created, logVersion };
}

/**
 * Prepares the database without the log, and calls `migrate` with an administrator's connection to it. Returns the
 * names of the created objects.
 */
export async function ensureDatabase(
  adminUrl: string,
  roles: readonly DatabaseRole[],
  migrate: (client: Client) => Promise<void>,
): Promise<readonly string[]> {
  const database = databaseOf(adminUrl);
  const created: string[] = [];
  await withClient(inDatabase(adminUrl, "postgres"), async (server) => {
    // The lock is held until this connection closes. Roles belong to the whole server, so the lock is in its database
    // `postgres`.
    await server.query("select pg_advisory_lock(hashtext('trainyard database'))");
    created.push(...(await ensureRoles(server, roles)));
    const { rowCount } = await server.query("select 1 from pg_database where datname = $1", [
      database,
    ]);
    if (rowCount === 0) {
      await server.query(
        `create database ${escapeIdentifier(database)} encoding 'UTF8' template template0`,
      );
      created.push(`database ${database}`);
    }
    await withClient(adminUrl, async (client) => {
      await restrictDatabase(client, database, roles);
      for (const role of roles) created.push(...(await ensureSchema(client, role)));
      await migrate(client);
    });
    // A migration that is refused changes nothing, so running services keep their passwords.
    await setPasswords(server, roles);
  });
  return created;
}

async function ensureRoles(
  client: Client,
  roles: readonly DatabaseRole[],
): Promise<readonly string[]> {
  const existing = await existingRoles(client, roles);
  const { rows } = await client.query<{ superuser: boolean }>(
    "select rolsuper as superuser from pg_roles where rolname = current_user",
  );
  const created: string[] = [];
  for (const { name } of roles) {
    const role = escapeIdentifier(name);
    if (existing.has(name)) continue;
    await client.query(`create role ${role} login`);
    created.push(`role ${name}`);
    // A superuser may act as any role. Another administrator needs this grant to create schemas for the role.
    if (rows[0]?.superuser !== true) {
      await client.query(`grant ${role} to current_user with inherit true, set true`);
    }
  }
  return created;
}

/** Sets the passwords that differ. A running service opens no further connection with an earlier one. */
async function setPasswords(client: Client, roles: readonly DatabaseRole[]): Promise<void> {
  const stored = await existingRoles(client, roles);
  for (const { name, password } of roles) {
    if (password === null || scramMatches(stored.get(name) ?? "", password)) continue;
    const verifier = escapeLiteral(scramVerifier(password));
    await client.query(`alter role ${escapeIdentifier(name)} password ${verifier}`);
  }
}

/** Returns the existing roles with the stored form of their passwords; empty if this administrator may not read it. */
async function existingRoles(
  client: Client,
  roles: readonly DatabaseRole[],
): Promise<ReadonlyMap<string, string>> {
  const { rows: may } = await client.query<{ see: boolean }>(
    "select has_table_privilege('pg_authid', 'select') as see",
  );
  const verifier = may[0]?.see === true ? "coalesce(rolpassword, '')" : "''";
  const { rows } = await client.query<{ name: string; verifier: string }>(
    `select rolname as name, ${verifier} as verifier
     from ${may[0]?.see === true ? "pg_authid" : "pg_roles"} where rolname = any($1)`,
    [roles.map((role) => role.name)],
  );
  return new Map(rows.map((row) => [row.name, row.verifier]));
}

/** Lets only the cluster's roles connect, create schemas and use temporary tables; no role may create in `public`. */
async function restrictDatabase(
  client: Client,
  database: string,
  roles: readonly DatabaseRole[],
): Promise<void> {
  const names = roles.map((role) => escapeIdentifier(role.name)).join(", ");
  await client.query(`revoke all on database ${escapeIdentifier(database)} from public`);
  await client.query("revoke all on schema public from public");
  // A service's migrations begin with "create schema if not exists", which needs the right to create. The verification
  // of a read model rebuilds it in a temporary table.
  const rights = "connect, create, temporary";
  await client.query(`grant ${rights} on database ${escapeIdentifier(database)} to ${names}`);
}

async function ensureSchema(client: Client, role: DatabaseRole): Promise<readonly string[]> {
  if (role.schema === null) return [];
  const { rowCount } = await client.query("select 1 from pg_namespace where nspname = $1", [
    role.schema,
  ]);
  if (rowCount !== 0) return [];
  await client.query(
    `create schema ${escapeIdentifier(role.schema)} authorization ${escapeIdentifier(role.name)}`,
  );
  return [`schema ${role.schema}`];
}

function databaseOf(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1));
}

function inDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${encodeURIComponent(database)}`;
  return changed.href;
}

async function withClient<Value>(
  url: string,
  use: (client: Client) => Promise<Value>,
): Promise<Value> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  // Without this listener a connection that breaks between two queries would end the process; the next query reports
  // it.
  client.on("error", () => {});
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end();
  }
}
