/**
 * Removes points and system samples of an experiment's groups, in statements of bounded size. The keys of their reports
 * stay.
 */
import type { Pool } from "pg";
import type { DueGroups } from "../core/retention.ts";
import { metricsLimits } from "../limits.ts";

// Trials of experiment 12 sort between "12." and "12/", the next character. No other experiment's trials do.
const isDue = `
  trial > $1 || '.' and trial < $1 || '/'
  and (group_name = any($2::text[]) or ($3 and group_name <> all($4::text[])))`;

const removal = (table: string, key: string): string => `
delete from metrics.${table} where (${key}) in (
  select ${key} from metrics.${table} where ${isDue} limit $5)`;

const { rowsPerRemovalMax, blocksPerRemovalMax } = metricsLimits;

/** Blocks are removed with their columns, and names too, so that no removed metric is offered for a chart. */
const removals = [
  { text: removal("tails", "id"), most: rowsPerRemovalMax },
  { text: removal("blocks", "id"), most: blocksPerRemovalMax },
  { text: removal("system_points", "trial, run, key"), most: rowsPerRemovalMax },
  { text: removal("names", "trial, group_name, name, kind"), most: rowsPerRemovalMax },
];

/** Returns the number of removed rows. */
export async function removeGroups(
  pool: Pool,
  experiment: string,
  { named, others, except }: DueGroups,
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (const { text, most } of removals) {
    for (let more = true; more && !signal.aborted; ) {
      const { rowCount } = await pool.query(text, [experiment, named, others, except, most]);
      removed += rowCount ?? 0;
      // A tail may become a block during the sweep: the next sweep removes it.
      more = (rowCount ?? 0) === most;
    }
  }
  return removed;
}
