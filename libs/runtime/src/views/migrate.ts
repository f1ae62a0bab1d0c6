import { applyVersions, inMigration } from "@trainyard/event-log";
import type { Pool, PoolClient } from "pg";

/**
 * Applies the versions of a folder to a schema, which is created if it is missing, in one transaction. Replicas that
 * start together wait for each other. Throws a Fault `newer_schema` if the database is newer than the program.
 */
export async function migrate(pool: Pool, schema: string, folder: string): Promise<void> {
  const client = await pool.connect();
  try {
    await inMigration(client, schema, async () => {
      await ensureSchema(client, schema);
      await applyVersions(client, schema, folder);
    });
  } finally {
    client.release();
  }
}

/** A role without the right to create schemas finds its schema ready; "if not exists" would still require the right. */
async function ensureSchema(client: PoolClient, schema: string): Promise<void> {
  const { rowCount } = await client.query("select from pg_namespace where nspname = $1", [schema]);
  if (rowCount === 0) await client.query(`create schema ${schema}`);
}
