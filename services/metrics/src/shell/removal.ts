/**
 * Removes points and system samples of an experiment's groups, in statements of bounded size. The keys of their reports
 * stay.
 */
import type { Pool } from "pg";
import type { DueGroups } from "../core/retention.ts";
import { metricsLimits } from "../limits.ts";

// Trials of experiment 12 are between "12." and "12/", the next character. Nothing of the experiment is named by
// another.
const isDue = `
  trial > $1 || '.' and trial < $1 || '/'
  and (group_name = any($2::text[]) or ($3 and group_name <> all($4::text[])))`;

const removal = (table: string, key: string): string => `
delete from metrics.${table} where (${key}) in (
  select ${key} from metrics.${table} where ${isDue} limit $5)`;

const { rowsPerRemovalMax, blocksPerRemovalMax } = metricsLimits;

/** Blocks go with their columns. Names go too, so that nothing offers a chart of what is gone. */
const removals = [
  { text: removal("tails", "id"), most: rowsPerRemovalMax },
  { text: removal("blocks", "id"), most: blocksPerRemovalMax },
  { text: removal("points", "trial, run, key"), most: rowsPerRemovalMax },
  { text: removal("system_points", "trial, run, key"), most: rowsPerRemovalMax },
  { text: removal("names", "trial, group_name, name, kind"), most: rowsPerRemovalMax },
];

/** Returns how many rows were removed. */
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
      // A tail may become a block meanwhile: what comes later goes with the next look.
      more = (rowCount ?? 0) === most;
    }
  }
  return removed;
}

/** The first experiment with reports whose id comes after this one, as text; null when there is none. */
export async function experimentAfter(pool: Pool, experiment: string): Promise<string | null> {
  const { rows } = await pool.query<{ experiment: string }>(
    `select split_part(trial, '.', 1) as experiment from metrics.runs
     where trial > $1 || '/' order by trial limit 1`,
    [experiment],
  );
  return rows[0]?.experiment ?? null;
}
