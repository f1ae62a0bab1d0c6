/**
 * Applies the numbered versions of a schema, each once. A version is a file (`0001_tables.sql`) or a folder
 * (`0001_first`) whose files are applied in this order: `tables.sql`, `functions/*.sql` by name, `finish.sql`. The
 * table `migrations` of the schema lists the applied versions.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "@trainyard/kernel";
import type { ClientBase } from "pg";

const versionPattern = /^\d{4}_[a-z0-9_]+(\.sql)?$/;

/** Runs `body` in one transaction. Replicas that migrate the same schema at the same time wait for each other. */
export async function inMigration(
  client: ClientBase,
  schema: string,
  body: () => Promise<void>,
): Promise<void> {
  await client.query("begin");
  try {
    await client.query("select pg_advisory_xact_lock(hashtext($1))", [`migrate ${schema}`]);
    await body();
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => {}); // The connection itself may have failed.
    throw error;
  }
}

/** Versions that a schema lacks, other than all of them. */
export type DueVersions = { readonly newest: number; readonly known: number };

/**
 * Applies the versions of the folder that the schema lacks, in order of their numbers, in the transaction of
 * `inMigration`. If it has some and lacks others, `guard` is called before they are applied and after, and may throw to
 * undo them. Throws a Fault `newer_schema` if the schema has a newer version than the folder.
 */
export async function applyVersions(
  client: ClientBase,
  schema: string,
  folder: string,
  guard: (due: DueVersions) => Promise<void> = async () => {},
): Promise<void> {
  await client.query(`create table if not exists ${schema}.migrations (
    number integer primary key, name text not null, applied_at timestamptz not null default now())`);
  const { rows } = await client.query<{ number: number }>(
    `select number from ${schema}.migrations`,
  );
  const applied = new Set(rows.map(({ number }) => number));
  const names = (await readdir(folder)).filter((name) => versionPattern.test(name)).sort();
  const newest = Math.max(0, ...applied);
  const known = Math.max(0, ...names.map(numberOf));
  if (newest > known) throw newerSchema(schema, newest, known);
  const due = names.filter((one) => !applied.has(numberOf(one)));
  const isUpgrade = applied.size > 0 && due.length > 0;
  if (isUpgrade) await guard({ newest, known });
  // Functions of one version may call each other, whatever the order of their files.
  await client.query("set local check_function_bodies = off");
  for (const name of due) {
    for (const file of await filesOf(join(folder, name))) {
      await client.query(await readFile(file, "utf8"));
    }
    await client.query(`insert into ${schema}.migrations (number, name) values ($1, $2)`, [
      numberOf(name),
      name,
    ]);
  }
  if (isUpgrade) await guard({ newest, known });
}

function newerSchema(schema: string, newest: number, known: number): Fault {
  const what = schema === "log" ? "the log was" : `the tables of ${schema} were`;
  const versions = `(it is at ${newest}, and this one knows ${known})`;
  return new Fault(
    "newer_schema",
    `${what} migrated by a newer version of Trainyard ${versions}: deploy that version again, or restore the backup made before it (docs/operate/backup.md)`,
    { retry: "never" },
  );
}

const numberOf = (name: string): number => Number(name.slice(0, 4));

/** Returns the files of a version in the order in which they are applied. Throws if a file has no place in it. */
async function filesOf(version: string): Promise<readonly string[]> {
  if (version.endsWith(".sql")) return [version];
  const files = (await readdir(version, { recursive: true })).filter((file) =>
    file.endsWith(".sql"),
  );
  const functions = files.filter((file) => file.startsWith("functions/")).sort();
  const order = ["tables.sql", ...functions, "finish.sql"];
  const misplaced = files.find((file) => !order.includes(file));
  if (misplaced !== undefined) {
    throw new Error(
      `${join(version, misplaced)} has no place in a version: tables.sql, functions/*.sql or finish.sql`,
    );
  }
  return order.filter((file) => files.includes(file)).map((file) => join(version, file));
}
