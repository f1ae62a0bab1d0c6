import type { Pool } from "pg";

/**
 * Returns, by experiment, the number of other experiments with a waiting run that are ahead of it in its pool. An
 * experiment without a waiting run is left out.
 */
export async function jobsAhead(
  pool: Pool,
  jobs: readonly { readonly job: string; readonly pool: string }[],
): Promise<ReadonlyMap<string, number>> {
  if (jobs.length === 0) return new Map();
  const { rows } = await pool.query<{ id: string; ahead: string }>(
    `select id, ahead from (
       select id, row_number() over (partition by pool order by queue, ordinal, id) - 1 as ahead
       from gateway.job_rows
       where scope = '' and pool = any($1::text[]) and runs_waiting > 0) waiting
     where id = any($2::text[])`,
    [[...new Set(jobs.map((job) => job.pool))], jobs.map(({ job }) => job)],
  );
  return new Map(rows.map(({ id, ahead }) => [id, Number(ahead)]));
}
