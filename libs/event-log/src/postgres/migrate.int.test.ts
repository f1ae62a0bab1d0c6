import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ClientBase } from "pg";
import { expect, test } from "vitest";
import { collect, everything, noMeta, requestOf, writeOf } from "../contract/harness.ts";
import { contractRoles } from "../contract.ts";
import { copyOfVersions } from "../testing/log-versions.ts";
import { ensureRoles, openTestDatabase, withClient } from "../testing/test-database.ts";
import { migrateLog } from "./migrate.ts";
import { createPostgresLog } from "./postgres-log.ts";
import { applyVersions, inMigration } from "./versions.ts";

test("a second version is applied once on top of the first, and the log keeps its events, commit ids and rights", async () => {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await openTestDatabase());
  const migrateAll = (): Promise<void> =>
    withClient(database.url(), (admin) => migrateLog(admin, { roles: contractRoles }));
  await withClient(database.url(), (admin) =>
    ensureRoles(admin, ["ty_migrator", "ty_experiments", "ty_searcher", "ty_reader"]),
  );
  await migrateAll();
  const log = stack.use(createPostgresLog({ connectionString: database.url("ty_experiments") }));
  const first = requestOf([writeOf("experiment-1", 0, 3)], {
    meta: { ...noMeta, authid: "admin" },
  });
  await log.append(first);
  const stored = await everything(log);

  const folder = await copyOfVersions(stack);
  await writeSecond(folder);
  const misplaced = join(folder, "0002_second", "indexes.sql");
  await writeFile(misplaced, "select 1;");
  await expect(withClient(database.url(), (admin) => asOwner(admin, folder))).rejects.toThrow(
    "indexes.sql has no place in a version",
  );
  await rm(misplaced);
  const migrateToSecond = (): Promise<void> =>
    withClient(database.url(), (admin) => asOwner(admin, folder));
  await Promise.all([migrateToSecond(), migrateToSecond()]);

  const rows = await withClient(database.url(), async (admin) => {
    const { rows: numbered } = await admin.query(
      "select number, name, log.marked() as marked from log.migrations order by number",
    );
    return numbered;
  });
  expect(rows).toEqual([
    { number: 1, name: "0001_first", marked: 3 },
    { number: 2, name: "0002_second", marked: 3 },
  ]);
  expect(await everything(log)).toEqual(stored);
  expect(await log.append(first)).toMatchObject({ position: 3, repeated: true });
  expect(await log.append(requestOf([writeOf("experiment-1", 3)]))).toMatchObject({ position: 4 });
  expect(await collect(log.verify(0))).toEqual([]);
  await expect(migrateAll()).rejects.toMatchObject({ code: "newer_schema" });
});

/** A version whose finish needs its functions, and whose functions need each other and its table. */
async function writeSecond(folder: string): Promise<void> {
  const functions = join(folder, "0002_second", "functions");
  await mkdir(functions, { recursive: true });
  const files = {
    "../tables.sql": "create table log.marks (position bigint primary key);",
    "count_marks.sql": `create function log.count_marks() returns integer language sql
      as $$ select log.marked() $$;`,
    "marked.sql": `create function log.marked() returns integer language sql
      as $$ select count(*)::integer from log.marks $$;`,
    "../finish.sql":
      "insert into log.marks select position from log.events; select log.count_marks();",
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(functions, name), text);
}

const asOwner = (admin: ClientBase, folder: string): Promise<void> =>
  inMigration(admin, "log", async () => {
    await admin.query("set local role ty_migrator");
    await applyVersions(admin, "log", folder);
  });
