import { type Clock, pause } from "@trainyard/kernel";
import { type Logger } from "@trainyard/runtime";
import type { Pool } from "pg";
import { httpLimits } from "./limits.ts";

/** The interval at which expired rows are deleted. */
const sweepMs = 3_600_000;

/** The expired rows of a table: those that meet a condition. */
export type Expired = { readonly table: string; readonly where: string };

/** Deletes expired rows at intervals, until the signal aborts. */
export async function sweep(
  tables: readonly Expired[],
  pool: Pool,
  clock: Clock,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    for (const expired of tables) {
      await deleteExpired(pool, expired, signal).catch((error: unknown) =>
        logger.warn({ err: error }, "sweep_failed"),
      );
    }
    await pause(clock, sweepMs, signal);
  }
}

/** Deletes in pieces, since the database cancels a statement that takes too long. A row that is in use stays. */
export async function deleteExpired(
  pool: Pick<Pool, "query">,
  { table, where }: Expired,
  signal: AbortSignal,
  rowsMax: number = httpLimits.expiredRowsAtOnce,
): Promise<void> {
  const text = `delete from ${table} where ctid in (
    select ctid from ${table} as old where ${where} limit ${rowsMax} for update skip locked)`;
  for (let more = true; more && !signal.aborted; ) {
    more = (await pool.query(text)).rowCount === rowsMax;
  }
}
