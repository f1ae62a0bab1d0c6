/**
 * Deletes the reports of experiments that are deleted for good, in bounded statements.
 *
 * The position in the log advances after the rows are deleted, so a crash repeats the deletion. An experiment is purged
 * some time after its deletion: reports in progress are stored by then, and later ones are refused.
 */
import { shortNameOf } from "@trainyard/contracts";
import { type EventLog, isFullPage } from "@trainyard/event-log";
import { type Clock, idOf } from "@trainyard/kernel";
import { type KnownEvent, positionInLog, runtimeLimits, tableFault } from "@trainyard/runtime";
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
  const from = await positionOf(pool, log);
  const page = await log.readAll(from, runtimeLimits.pageEvents);
  let passed: KnownEvent | null = null;
  for (const event of page) {
    if (shortNameOf(event.type) === "ExperimentDeleted") {
      if (clock.nowMs() - event.timeMs < metricsLimits.purgeAfterMs) break;
      await deleteAll(pool, idOf(event.stream), rowsMax);
    }
    passed = { position: event.position, id: event.id };
  }
  if (passed !== null) await moveTo(pool, passed);
  return passed !== null && isFullPage(page, runtimeLimits.pageEvents);
}

/** Returns the cursor; 0 in a log that does not have its event: deleting again is harmless. */
async function positionOf(pool: Pool, log: EventLog): Promise<number> {
  const text = "select position::float8 as position, event as id from metrics.purged";
  const { rows } = await query<KnownEvent>(pool, text, []);
  return positionInLog(log, rows[0]);
}

async function moveTo(pool: Pool, { position, id }: KnownEvent): Promise<void> {
  const text = `insert into metrics.purged (position, event) values ($1, $2)
    on conflict (one) do update set position = excluded.position, event = excluded.event`;
  await query(pool, text, [position, id]);
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
