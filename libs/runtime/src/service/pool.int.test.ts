import { openTestDatabase } from "@trainyard/event-log/testing";
import { pino } from "pino";
import { expect, test, vi } from "vitest";
import { openPool } from "./connections.ts";

test("a connection that breaks during a transaction makes its next query fail and does not stop the process", async () => {
  await using database = await openTestDatabase();
  const config = { postgresUrl: database.url() };
  const pool = openPool(config, "test", pino({ enabled: false }));
  const uncaught = vi.fn<(error: unknown) => void>();
  process.on("uncaughtException", uncaught);
  try {
    const client = await pool.connect();
    const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
    const closed = new Promise((resolve) => void client.once("end", resolve));
    await pool.query("select pg_terminate_backend($1)", [rows[0]?.pid]);
    await closed;
    await expect(client.query("select 1")).rejects.toThrow();
    client.release(true);
    expect(uncaught.mock.calls).toEqual([]);
    expect((await pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  } finally {
    process.off("uncaughtException", uncaught);
    await pool.end();
  }
});
