/** Reads and writes the tables of system samples: every point, and the totals of each run. */
import type { Plain } from "@trainyard/contracts";
import type { SystemSample, SystemTotal } from "@trainyard/contracts/commands";
import { tableFault } from "@trainyard/runtime";
import type { Pool, PoolClient, QueryConfig, QueryResultRow } from "pg";
import type { NewReport } from "../core/writes.ts";
import type { RunName } from "./run-heads.ts";

export type SystemRow = Pick<NewReport, "key" | "group" | "step" | "atMs"> &
  RunName & { readonly system: Plain<SystemSample> };

export const isSystemRow = <Row extends Pick<NewReport, "system">>(
  row: Row,
): row is Row & { readonly system: Plain<SystemSample> } => row.system !== null;

export type SystemCursor = { readonly atMs: number; readonly run: number; readonly key: string };

export type SystemQuery = {
  readonly trial: string;
  /** The group to read; null for all groups. */
  readonly group: string | null;
  readonly after: SystemCursor | null;
  readonly limit: number;
};

export type TotalCursor = {
  readonly node: number;
  readonly group: string;
  readonly device: string;
  readonly name: string;
};

export type TotalsQuery = RunName & {
  readonly after: TotalCursor | null;
  readonly limit: number;
};

const insert = `
with inserted as (
  insert into metrics.system_points (trial, run, key, group_name, node, device, at_ms, step, samples, measured)
  select * from unnest(
    $1::text[], $2::integer[], $3::text[], $4::text[], $5::integer[], $6::text[], $7::double precision[],
    $8::double precision[], $9::integer[], $10::text[])
  returning trial, run, node, group_name, device, samples, measured
)
insert into metrics.system_totals as known (trial, run, node, group_name, device, name, samples, total, min, max)
select trial, run, node, group_name, device, value.name,
  sum(samples), sum(value.mean * samples), min(value.min), max(value.max)
from inserted, jsonb_to_recordset(measured::jsonb)
  as value (name text, min double precision, mean double precision, max double precision)
group by trial, run, node, group_name, device, value.name
order by trial, run, node, group_name, device, value.name
on conflict (trial, run, node, group_name, device, name) do update set
  samples = known.samples + excluded.samples,
  total = known.total + excluded.total,
  min = least(known.min, excluded.min),
  max = greatest(known.max, excluded.max)`;

const select = `
select run, key, group_name, node, device, at_ms, step, samples, measured
from metrics.system_points
where trial = $1
  and ($2::text is null or group_name = $2)
  and ($3::double precision is null or (at_ms, run, key) > ($3, $4::integer, $5::text))
order by at_ms, run, key
limit $6`;

const selectTotals = `
select run, node, group_name, device, name, samples, total / samples as mean, min, max
from metrics.system_totals
where trial = $1 and run = $2::bigint
  and ($3::bigint is null or (node, group_name, device, name) > ($3, $4::text, $5::text, $6::text))
order by node, group_name, device, name
limit $7`;

// One probe of the primary key for each run.
const selectRuns = `
with recursive found (run) as (
  (select run from metrics.system_totals where trial = $1 order by run desc limit 1)
  union all
  select (select max(run) from metrics.system_totals t where t.trial = $1 and t.run < found.run) from found
  where found.run is not null
)
select run from found where run is not null limit $2`;

type SelectedPoint = {
  readonly run: number;
  readonly key: string;
  readonly group_name: string;
  readonly node: number;
  readonly device: string;
  readonly at_ms: number;
  readonly step: number;
  readonly samples: number;
  readonly measured: string;
};

type SelectedTotal = {
  readonly run: number;
  readonly node: number;
  readonly group_name: string;
  readonly device: string;
  readonly name: string;
  readonly samples: number;
  readonly mean: number;
  readonly min: number;
  readonly max: number;
};

/** Stores samples and adds them to the totals. The same transaction changes, and so locks, their runs. */
export async function insertSamples(client: PoolClient, rows: readonly SystemRow[]): Promise<void> {
  await client.query({
    name: "insert-system-points",
    text: insert,
    values: [
      rows.map((row) => row.trial),
      rows.map((row) => row.run),
      rows.map((row) => row.key),
      rows.map((row) => row.group),
      rows.map((row) => row.system.node),
      rows.map((row) => row.system.device),
      rows.map((row) => row.atMs),
      rows.map((row) => row.step),
      rows.map((row) => row.system.samples),
      rows.map((row) => JSON.stringify(row.system.values)),
    ],
  });
}

export class SystemTable {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Selects samples in the order (time, run, key). */
  async select({ trial, group, after, limit }: SystemQuery): Promise<readonly SystemRow[]> {
    const selected = await this.#query<SelectedPoint>({
      name: "select-system-points",
      text: select,
      values: [trial, group, after?.atMs ?? null, after?.run ?? null, after?.key ?? null, limit],
    });
    return selected.map((row) => ({
      trial,
      run: row.run,
      key: row.key,
      group: row.group_name,
      step: row.step,
      atMs: row.at_ms,
      system: {
        node: row.node,
        device: row.device,
        samples: row.samples,
        values: JSON.parse(row.measured) as SystemRow["system"]["values"], // Written by insert.
      },
    }));
  }

  /** Returns the latest runs with totals, in order. */
  async runs(trial: string, limit: number): Promise<readonly number[]> {
    const found = await this.#query<{ readonly run: number }>({
      name: "select-profiled-runs",
      text: selectRuns,
      values: [trial, limit],
    });
    return found.map(({ run }) => run).toReversed();
  }

  /** Selects totals of a run in the order (node, group, device, name). */
  async totals({ trial, run, after, limit }: TotalsQuery): Promise<readonly Plain<SystemTotal>[]> {
    const selected = await this.#query<SelectedTotal>({
      name: "select-system-totals",
      text: selectTotals,
      values: [
        ...[trial, run, after?.node ?? null, after?.group ?? null, after?.device ?? null],
        ...[after?.name ?? null, limit],
      ],
    });
    return selected.map(({ run, node, group_name, device, samples, name, min, mean, max }) => ({
      run,
      node,
      group: group_name,
      device,
      samples,
      value: { name, min, mean, max },
    }));
  }

  async #query<Row extends QueryResultRow>(query: QueryConfig): Promise<readonly Row[]> {
    try {
      return (await this.#pool.query<Row>(query)).rows;
    } catch (cause) {
      throw tableFault(cause, "points_unavailable", "the table of system points");
    }
  }
}
