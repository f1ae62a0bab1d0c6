import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openTestDatabase } from "@trainyard/event-log/testing";
import pg from "pg";
import { expect, test } from "vitest";
import { migrate } from "./migrate.ts";

test("each migration is applied once, even one with a lower number later, and a newer database is refused", async () => {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await openTestDatabase());
  const folder = await mkdtemp(join(tmpdir(), "trainyard-migrate-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const pool = stack.adopt(new pg.Pool({ connectionString: database.url(), max: 1 }), (one) =>
    one.end(),
  );
  const write = (number: number) =>
    writeFile(join(folder, `000${number}_t.sql`), `create table example.t${number} ()`);
  const numbers = async () =>
    (await pool.query<{ number: number }>("select number from example.migrations order by 1")).rows;
  await write(1);
  await write(8);
  await migrate(pool, "example", folder);
  await migrate(pool, "example", folder);
  await write(5);
  await migrate(pool, "example", folder);
  expect(await numbers()).toEqual([{ number: 1 }, { number: 5 }, { number: 8 }]);
  await rm(join(folder, "0008_t.sql"));
  await expect(migrate(pool, "example", folder)).rejects.toMatchObject({ code: "newer_schema" });
});

test("a migration may take longer than the statements of its service", async () => {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await openTestDatabase());
  const folder = await mkdtemp(join(tmpdir(), "trainyard-migrate-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const limits = { statement_timeout: 100, query_timeout: 150 };
  const pool = stack.adopt(
    new pg.Pool({ connectionString: database.url(), max: 1, ...limits }),
    (one) => one.end(),
  );
  await writeFile(
    join(folder, "0001_slow.sql"),
    "create table example.slow (); select pg_sleep(0.4)",
  );
  await migrate(pool, "example", folder);
  await expect(pool.query("select pg_sleep(0.4)")).rejects.toThrow();
  expect((await pool.query("select from example.slow")).rowCount).toBe(0);
});
