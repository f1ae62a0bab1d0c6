import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "@trainyard/kernel";
import type { Pool, PoolClient } from "pg";

/**
 * Applies a folder of numbered SQL files (0001_name.sql, …) to a schema, each once and in a separate transaction.
 * Replicas that start together wait for each other. Throws a Fault `newer_schema` if the database is newer than the
 * program.
 */
export async function migrate(pool: Pool, schema: string, folder: string): Promise<void> {
  const files = (await readdir(folder)).filter((name) => /^\d{4}_.+\.sql$/.test(name)).sort();
  const client = await pool.connect();
  try {
    await client.query("begin");
    await client.query("select pg_advisory_xact_lock(hashtext($1))", [`migrate ${schema}`]);
    await ensureSchema(client, schema);
    await client.query(
      `create table if not exists ${schema}.migrations (number int primary key, name text not null, applied_at timestamptz not null default now())`,
    );
    const { rows } = await client.query<{ number: number }>(
      `select number from ${schema}.migrations`,
    );
    const applied = new Set(rows.map((row) => row.number));
    const newest = Math.max(0, ...applied);
    const known = Math.max(0, ...files.map(numberOf));
    if (newest > known) {
      throw new Fault(
        "newer_schema",
        `the tables of ${schema} are at version ${newest} and this code knows ${known}: run the newer version of Trainyard`,
        { retry: "never" },
      );
    }
    for (const name of files) {
      const number = numberOf(name);
      if (applied.has(number)) continue;
      await client.query(await readFile(join(folder, name), "utf8"));
      await client.query(`insert into ${schema}.migrations (number, name) values ($1, $2)`, [
        number,
        name,
      ]);
    }
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => {}); // The connection itself may have failed.
    throw error;
  } finally {
    client.release();
  }
}

const numberOf = (name: string): number => Number(name.slice(0, 4));

/** A role without the right to create schemas finds its schema ready; "if not exists" would still require the right. */
async function ensureSchema(client: PoolClient, schema: string): Promise<void> {
  const { rowCount } = await client.query("select from pg_namespace where nspname = $1", [schema]);
  if (rowCount === 0) await client.query(`create schema ${schema}`);
}
