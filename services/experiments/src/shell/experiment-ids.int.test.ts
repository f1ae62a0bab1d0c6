import { join } from "node:path";
import { migrate } from "@trainyard/runtime";
import { startTestPostgres, type TestPostgres } from "@trainyard/testing";
import pg from "pg";
import { expect, test } from "vitest";
import { postgresIds } from "./experiment-ids.ts";

const migrations = join(import.meta.dirname, "../../migrations");

async function drawn(
  server: TestPostgres,
  count: number,
  kind: "next" | "nextTask" = "next",
): Promise<readonly string[]> {
  const pool = new pg.Pool({ connectionString: server.url(), max: 4 });
  // The test stops the server while connections are open, which is an error of each.
  pool.on("error", () => {});
  try {
    await migrate(pool, "experiments", migrations);
    const ids = postgresIds(pool);
    return await Promise.all(Array.from({ length: count }, () => ids[kind]()));
  } finally {
    await pool.end();
  }
}

const inOrder = (ids: readonly string[]): number[] => ids.map(Number).sort((a, b) => a - b);

test("numbers of experiments and of tasks are consecutive across concurrent draws and a crash of PostgreSQL", async () => {
  await using first = await startTestPostgres();
  expect(inOrder(await drawn(first, 20))).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  await first.crash();
  await using second = await startTestPostgres({ copyOf: first.data });
  expect(inOrder(await drawn(second, 3))).toEqual([21, 22, 23]);
  // Tasks have numbers of their own.
  expect((await drawn(second, 3, "nextTask")).toSorted()).toEqual(["t1", "t2", "t3"]);
});
