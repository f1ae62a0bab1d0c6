/** Migrates the log's schema to the latest version and grants each role its permissions, in one transaction. */
import { join } from "node:path";
import { Fault } from "@trainyard/kernel";
import type { ClientBase } from "pg";
import type { LogRoles } from "../owners.ts";
import { faultOf } from "./faults.ts";
import { applyVersions, type DueVersions, inMigration } from "./versions.ts";

export type MigrateOptions = {
  readonly roles: LogRoles;
  /**
   * The role that owns the schema and everything in it. It must exist, and the connection's role must be the same or a
   * member of it.
   */
  readonly owner?: string;
  /** Called before and after the changes to a log that has an earlier version; it may throw to undo them. */
  readonly guard?: (due: DueVersions) => Promise<void>;
  /** The folder of the versions; by default those of this version of Trainyard. */
  readonly versions?: string;
};

const ownVersions = join(import.meta.dirname, "..", "..", "migrations");

/** The functions that service roles may call, and the tables that they may read. `append` checks the calling role. */
const callable = [
  "append",
  "current_cursor",
  "move_cursor",
  "acquire_lease",
  "release_lease",
  "save_snapshot",
  "drop_snapshots",
  "read_stream",
  "partition_size",
];
const readable = ["commits", "events", "streams", "cursors", "parked", "leases", "snapshots"];

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Resolves when the schema is current and the roles have their permissions. Throws a Fault otherwise. */
export async function migrateLog(admin: ClientBase, options: MigrateOptions): Promise<void> {
  const { owner = "ty_migrator", versions = ownVersions, guard } = options;
  try {
    await inMigration(admin, "log", async () => {
      await prepareSchema(admin, owner);
      await admin.query(`set local role ${quoted(owner)}`);
      await applyVersions(admin, "log", versions, guard);
      await grant(admin, options.roles);
    });
  } catch (error) {
    throw faultOf(error, "migrating the log");
  }
}

async function prepareSchema(admin: ClientBase, owner: string): Promise<void> {
  const { rows } = await admin.query<{ role: boolean; schema: boolean; encoding: string }>(
    `select exists (select from pg_roles where rolname = $1) as role,
      exists (select from pg_namespace where nspname = 'log') as schema,
      current_setting('server_encoding') as encoding`,
    [owner],
  );
  const present = rows[0];
  if (present?.role !== true) {
    const detail = `the role ${owner} does not exist: create it before the log is migrated`;
    throw new Fault("log_owner_missing", detail, { retry: "never" });
  }
  if (present.encoding !== "UTF8") {
    const detail = `the database's encoding is ${present.encoding}, and the log needs UTF8`;
    throw new Fault("log_encoding", detail, { retry: "never" });
  }
  if (!present.schema) await admin.query(`create schema log authorization ${quoted(owner)}`);
}

/** Sets the owners to exactly the given ones; roles that own nothing lose their grants. */
async function grant(admin: ClientBase, roles: LogRoles): Promise<void> {
  const owners = [
    ...Object.entries(roles.categories).map(([name, role]) => ["category", name, role] as const),
    ...Object.entries(roles.consumers).map(([name, role]) => ["consumer", name, role] as const),
  ];
  const wanted = new Set([...owners.map(([, , role]) => role), ...(roles.readers ?? [])]);
  const { rows } = await admin.query<{ role: string }>(
    `select distinct grantee as role from information_schema.role_table_grants
     where table_schema = 'log' and grantee <> current_user and grantee <> 'PUBLIC'`,
  );
  for (const { role } of rows) {
    if (wanted.has(role)) continue;
    await admin.query(`revoke all on all tables in schema log from ${quoted(role)}`);
    await admin.query(`revoke all on all functions in schema log from ${quoted(role)}`);
    await admin.query(`revoke all on schema log from ${quoted(role)}`);
  }
  await admin.query("delete from log.owners");
  await admin.query(
    "insert into log.owners (kind, name, role) select * from unnest($1::text[], $2::text[], $3::name[])",
    [owners.map(([kind]) => kind), owners.map(([, name]) => name), owners.map((entry) => entry[2])],
  );
  const tables = readable.map((name) => `log.${name}`).join(", ");
  const functions = callable.map((name) => `log.${name}`).join(", ");
  for (const role of wanted) {
    await admin.query(`grant usage on schema log to ${quoted(role)}`);
    await admin.query(`grant select on ${tables} to ${quoted(role)}`);
    await admin.query(`grant execute on function ${functions} to ${quoted(role)}`);
  }
}
