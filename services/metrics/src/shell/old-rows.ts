/**
 * The rows of earlier versions, one for each report. They are moved to the tails in steps of one commit each; until then
 * queries read them beside the new form. A process that dies between two steps leaves nothing half moved.
 */
import { Fault } from "@trainyard/kernel";
import { inTransaction } from "@trainyard/runtime";
import type { Pool, PoolClient } from "pg";
import type { StoredReport } from "../core/columns/block.ts";
import type { JsonObject } from "../core/values.ts";
import type { Extent } from "../core/writes.ts";
import { hasKey } from "../core/columns/key-ledger.ts";
import { metricsLimits } from "../limits.ts";
import { KnownNames } from "./known-names.ts";
import type { PartReport } from "./parts.ts";
import { RunHeads, runName } from "./run-heads.ts";
import { type Change, changeOf, keysIn, type PointRow, writeChanges } from "./write-points.ts";

type Row = {
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

/** At most so many after a cursor, in the order (run, step, key); fewer than asked for where their bytes are many. */
export async function oldReports(
  client: PoolClient,
  trial: string,
  group: string | null,
  after: Cursor | null,
): Promise<readonly PartReport[]> {
  const { oldRowsPerStep, blockBytesMax } = metricsLimits;
  const from = [after?.run ?? null, after?.step ?? null, after?.key ?? null];
  const { rows } = await client.query<Row>({
    name: "old-points",
    text: page,
    values: [trial, group, ...from, oldRowsPerStep, blockBytesMax],
  });
  return rows.map((row) => ({ ...reportOf(row), run: row.run, group: row.group_name }));
}

function reportOf(row: Row): StoredReport {
  return {
    key: row.key,
    step: row.step,
    atMs: row.at_ms,
    rank: 0,
    aggregation: "mean",
    metrics: JSON.parse(row.metrics) as JsonObject,
  };
}

/** Of a trial whose rows have not all been moved: the progress that its newest run reported last. */
export async function oldProgress(pool: Pool, trial: string): Promise<string | null> {
  const { rows } = await pool.query<Pick<Row, "metrics">>({
    name: "old-progress",
    text: `select metrics from metrics.points where trial = $1 and group_name = 'progress'
           order by run desc, at_ms desc limit 1`,
    values: [trial],
  });
  return rows[0]?.metrics ?? null;
}

/** Of the training reports of each run that have not been moved. */
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

const nextRows = `
select trial, run, key, group_name, step, at_ms, metrics from metrics.points
order by trial, run, key limit $1
for update skip locked`;

const remove = `
delete from metrics.points using unnest($1::text[], $2::integer[], $3::text[]) as moved (trial, run, key)
where (points.trial, points.run, points.key) = (moved.trial, moved.run, moved.key)`;

/** Moves one step's rows, and gives how many there were. */
export async function moveOldRows(pool: Pool): Promise<number> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<Row>(nextRows, [metricsLimits.oldRowsPerStep]);
    if (rows.length === 0) return 0;
    const byRun = Map.groupBy(rows, runName);
    const heads = await new RunHeads(client).of(
      [...byRun.values()].flatMap((own) => own.slice(0, 1)),
    );
    const changes: Change[] = [];
    for (const head of heads) {
      const own = (byRun.get(runName(head)) ?? []).map(pointOf);
      const keys = own.map(({ key }) => key);
      // What a replica of the earlier version stored again after the report had come here.
      const known = new Set(keys.filter((key) => hasKey(head.keys, key)));
      for (const key of await keysIn(client, "loose_keys", head, keys)) known.add(key);
      const change = changeOf(head, own, known);
      if (change !== null) changes.push(change);
    }
    const names = new KnownNames().newIn(changes.flatMap(({ added }) => added));
    const moved = await writeChanges(client, changes, names, { isNew: false });
    if (moved.size < changes.length) {
      throw new Fault("points_unavailable", "a run was written to meanwhile", { retry: "now" });
    }
    await client.query(remove, [
      rows.map(({ trial }) => trial),
      rows.map(({ run }) => run),
      rows.map(({ key }) => key),
    ]);
    return rows.length;
  });
}

const pointOf = (row: Row): PointRow => ({
  ...reportOf(row),
  trial: row.trial,
  run: row.run,
  group: row.group_name,
  metricsText: row.metrics,
});
