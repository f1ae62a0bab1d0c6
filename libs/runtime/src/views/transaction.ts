import type { Pool, PoolClient } from "pg";

/** Commits what was done, or nothing of it when it throws. */
export async function inTransaction<Result>(
  pool: Pool,
  act: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  try {
    return await within(client, act);
  } finally {
    client.release();
  }
}

/** The same on a connection that is the caller's. */
export async function within<Result>(
  client: PoolClient,
  act: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  try {
    await client.query("begin");
    const result = await act(client);
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback").catch(() => {}); // The connection may be what failed.
    throw error;
  }
}
