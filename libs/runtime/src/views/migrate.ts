import { applyVersions, inMigration } from "@trainyard/event-log";
import { Client, type ClientBase, type Pool } from "pg";

/**
 * Applies the versions of a folder to a schema, which is created if it is missing, in one transaction. Replicas that
 * start together wait for each other. Throws a Fault `newer_schema` if the database is newer than the program.
 */
export async function migrate(pool: Pool, schema: string, folder: string): Promise<void> {
  // A new index of a large table takes longer than the pool's statements may.
  const client = new Client({ ...pool.options, statement_timeout: false, query_timeout: 0 });
  client.on("error", () => {}); // The running query fails.
  try {
    await client.connect();
    await inMigration(client, schema, async () => {
      await ensureSchema(client, schema);
      await applyVersions(client, schema, folder);
    });
  } finally {
    await client.end();
  }
}

/** A role without the right to create schemas finds its schema ready; "if not exists" would still require the right. */
async function ensureSchema(client: ClientBase, schema: string): Promise<void> {
  const { rowCount } = await client.query("select from pg_namespace where nspname = $1", [schema]);
  if (rowCount === 0) await client.query(`create schema ${schema}`);
}
