import { expect, test } from "vitest";
import { openLogDatabase, openTestDatabase, withClient } from "./test-database.ts";

const valueOf = (url: string, text: string): Promise<unknown> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ value: unknown }>(text);
    return rows[0]?.value;
  });

test("a test's database has nothing of another's, and is dropped when it is disposed of", async () => {
  const first = await openLogDatabase();
  await valueOf(first.url(), "insert into log.owners values ('category', 'trial', 'postgres')");
  await valueOf(first.url(), "create table mine ()");
  await using second = await openLogDatabase();
  expect(await valueOf(second.url(), "select count(*)::int as value from log.owners")).toBe(0);
  expect(await valueOf(second.url(), "select to_regclass('mine') as value")).toBeNull();
  await first[Symbol.asyncDispose]();
  await expect(valueOf(first.url(), "select 1 as value")).rejects.toMatchObject({ code: "3D000" });
  await using empty = await openTestDatabase();
  expect(await valueOf(empty.url(), "select to_regnamespace('log') as value")).toBeNull();
});
