/**
 * Deletes the reports of experiments that are deleted for good, in bounded statements.
 *
 * The position in the log advances after the rows are deleted, so a crash repeats the deletion. An experiment is purged
 * some time after its deletion: reports in progress are stored by then, and later ones are refused.
 */
import { shortNameOf } from "@trainyard/contracts";
import type { EventLog } from "@trainyard/event-log";
import { type Clock, idOf } from "@trainyard/kernel";
import { runtimeLimits, tableFault } from "@trainyard/runtime";
import type { Pool } from "pg";
import { metricsLimits } from "../limits.ts";

export type PurgeDeps = {
  readonly pool: Pool;
  readonly log: EventLog;
  readonly clock: Clock;
  /** The most rows of one statement. */
  readonly rowsMax?: number;
};

/** The tables to purge. `runs` is last, since a report needs its row first. */
const tables = [
  "tails",
  "past_tails",
  "supersessions",
  "blocks",
  "system_points",
  "system_totals",
  "loose_keys",
  "names",
  "runs",
] as const;

/** Purges the experiments in one page of the log. Returns whether more pages follow. */
export async function purgeDeleted(deps: PurgeDeps): Promise<boolean> {
  const { pool, log, clock, rowsMax = metricsLimits.rowsPerPurge } = deps;
  const from = await positionOf(pool, await log.head());
  const page = await log.readAll(from, runtimeLimits.pageEvents);
  let position = from;
  for (const event of page) {
    if (shortNameOf(event.type) === "ExperimentDeleted") {
      if (clock.nowMs() - event.timeMs < metricsLimits.purgeAfterMs) break;
      await deleteAll(pool, idOf(event.stream), rowsMax);
    }
    position = event.position;
  }
  if (position > from) await moveTo(pool, position);
  return position > from && page.length === runtimeLimits.pageEvents;
}

/** Restarts from the beginning if the log was restored to an earlier position: deleting again is harmless. */
async function positionOf(pool: Pool, head: number): Promise<number> {
  const text = "select position::float8 as position from metrics.purged";
  const { rows } = await query<{ readonly position: number }>(pool, text, []);
  const position = rows[0]?.position ?? 0;
  return position > head ? 0 : position;
}

async function moveTo(pool: Pool, position: number): Promise<void> {
  const text = `insert into metrics.purged (position) values ($1)
    on conflict (one) do update set position = excluded.position`;
  await query(pool, text, [position]);
}

/** Trials are named <experiment>.<number>: "/" is the character after ".". */
async function deleteAll(pool: Pool, experiment: string, rowsMax: number): Promise<void> {
  for (const table of tables) {
    const text = `delete from metrics.${table} where ctid in (
      select ctid from metrics.${table} where trial >= $1 and trial < $2 limit $3)`;
    const values = [`${experiment}.`, `${experiment}/`, rowsMax];
    for (let rows = 1; rows > 0; ) rows = (await query(pool, text, values)).rowCount ?? 0;
  }
}

async function query<Row extends object>(pool: Pool, text: string, values: readonly unknown[]) {
  try {
    return await pool.query<Row>(text, [...values]);
  } catch (cause) {
    throw tableFault(cause, "points_unavailable", "the table of points");
  }
}
