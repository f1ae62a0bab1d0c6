/**
 * Rows of earlier versions, one per report. They are read together with tails and blocks until old-rows-move.ts has
 * moved them.
 */
import type { Pool, PoolClient } from "pg";
import type { StoredReport } from "../core/columns/table.ts";
import type { JsonObject } from "../core/values.ts";
import type { Extent } from "../core/writes.ts";
import { metricsLimits } from "../limits.ts";
import type { PartReport } from "./stored-parts.ts";

export type OldRow = {
  readonly trial: string;
  readonly run: number;
  readonly key: string;
  readonly group_name: string;
  readonly step: number;
  readonly at_ms: number;
  readonly metrics: string;
};

export type Cursor = { readonly run: number; readonly step: number; readonly key: string };

const page = `
select trial, run, key, group_name, step, at_ms, metrics
from (
  select *, sum(octet_length(metrics)) over (order by run, step, key) - octet_length(metrics) as bytes_before
  from (
    select * from metrics.points
    where trial = $1
      and ($2::text is null or group_name = $2)
      and ($3::integer is null or (run, step, key) > ($3, $4::double precision, $5::text))
    order by run, step, key
    limit $6
  ) as page
) as sized
where bytes_before < $7
order by run, step, key`;

/** Reads at most the given number of reports after a cursor, in the order (run, step, key); fewer if they are large. */
export async function oldReports(
  client: PoolClient,
  trial: string,
  group: string | null,
  after: Cursor | null,
): Promise<readonly PartReport[]> {
  const { oldRowsPerStep, blockBytesMax } = metricsLimits;
  const from = [after?.run ?? null, after?.step ?? null, after?.key ?? null];
  const { rows } = await client.query<OldRow>({
    name: "old-points",
    text: page,
    values: [trial, group, ...from, oldRowsPerStep, blockBytesMax],
  });
  return rows.map((row) => ({ ...reportOf(row), run: row.run, group: row.group_name }));
}

export function reportOf(row: OldRow): StoredReport {
  return {
    key: row.key,
    step: row.step,
    atMs: row.at_ms,
    rank: 0,
    aggregation: "mean",
    metrics: JSON.parse(row.metrics) as JsonObject,
  };
}

/** Returns the last progress of the trial's newest run, or null if all of the trial's rows have been moved. */
export async function oldProgress(pool: Pool, trial: string): Promise<string | null> {
  const { rows } = await pool.query<Pick<OldRow, "metrics">>({
    name: "old-progress",
    text: `select metrics from metrics.points where trial = $1 and group_name = 'progress'
           order by run desc, at_ms desc limit 1`,
    values: [trial],
  });
  return rows[0]?.metrics ?? null;
}

/** Reads the training reports of each run that have not been moved. */
export async function oldTraining(
  pool: Pool,
  trial: string,
): Promise<readonly (Extent & { readonly run: number })[]> {
  const { rows } = await pool.query<Extent & { readonly run: number }>({
    name: "old-training",
    text: `select run, min(step) as "firstStep", max(step) as "lastStep",
             min(at_ms) as "firstAtMs", max(at_ms) as "lastAtMs"
           from metrics.points where trial = $1 and group_name = 'training' group by run`,
    values: [trial],
  });
  return rows;
}
