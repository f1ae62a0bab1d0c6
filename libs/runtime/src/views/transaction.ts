import pg, { type Pool, type PoolClient } from "pg";
import { runtimeLimits } from "../limits.ts";

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

/** Runs `act` with a pool of one connection to the same database, without limits of time for its statements. */
export async function withoutTimeLimits<Result>(
  { options }: Pool,
  act: (pool: Pool) => Promise<Result>,
): Promise<Result> {
  const patient = new pg.Pool({
    ...options,
    // A pool hides its password from copies.
    ...(options.password === undefined ? {} : { password: options.password }),
    max: 1,
    // A limit that the operator gave the role does not count either.
    options: "-c statement_timeout=0",
    statement_timeout: 0,
    query_timeout: 0,
    keepAliveInitialDelayMillis: runtimeLimits.keepAliveMs,
  });
  patient.on("error", () => {}); // The statement that fails reports it.
  try {
    return await act(patient);
  } finally {
    await patient.end();
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
