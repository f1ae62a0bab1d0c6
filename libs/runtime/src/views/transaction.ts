import type { Pool, PoolClient } from "pg";

/** Runs `act` in a transaction: commits it, or rolls it back if `act` throws. */
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

/** Runs `act` in a transaction on the caller's connection. */
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
    await client.query("rollback").catch(() => {}); // The connection itself may have failed.
    throw error;
  }
}
