/** The table of points. */
import type { Plain } from "@trainyard/contracts";
import type { Pace } from "@trainyard/contracts/commands";
import { tableFault } from "@trainyard/runtime";
import type { Pool, QueryConfig, QueryResultRow } from "pg";
import { metricsLimits } from "../limits.ts";

export type PointRow = {
  readonly trial: string;
  readonly run: number;
  readonly key: string;
  readonly group: string;
  readonly step: number;
  readonly atMs: number;
  readonly metricsText: string;
};

export type PointCursor = { readonly run: number; readonly step: number; readonly key: string };

export type PointQuery = {
  readonly trial: string;
  /** Null for all. */
  readonly group: string | null;
  readonly after: PointCursor | null;
  readonly limit: number;
  /** Leaves out the points of a run beyond its last step that counts. */
  readonly lastSteps: readonly { readonly run: number; readonly lastStep: number }[];
};

export type PointRows = { readonly rows: readonly PointRow[]; readonly more: boolean };

const insert = `
insert into metrics.points (trial, run, key, group_name, step, at_ms, metrics)
select * from unnest(
  $1::text[], $2::integer[], $3::text[], $4::text[], $5::double precision[], $6::double precision[], $7::text[])
on conflict (trial, run, key) do nothing
returning trial, run, key`;

// The page is cut where its bytes run out, but never before its first row.
const select = `
select run, key, group_name, step, at_ms, metrics, candidates
from (
  select *, count(*) over () as candidates,
    sum(octet_length(metrics)) over (order by run, step, key) - octet_length(metrics) as bytes_before
  from (
    select run, key, group_name, step, at_ms, metrics
    from metrics.points
    where trial = $1
      and ($2::text is null or group_name = $2)
      and ($3::integer is null or (run, step, key) > ($3, $4::double precision, $5::text))
      and not exists (
        select from unnest($6::integer[], $7::double precision[]) as limited (run, last_step)
        where limited.run = points.run and points.step > limited.last_step)
    order by run, step, key
    limit $8
  ) as page
) as sized
where bytes_before < $9
order by run, step, key`;

type SelectedRow = {
  readonly run: number;
  readonly key: string;
  readonly group_name: string;
  readonly step: number;
  readonly at_ms: number;
  readonly metrics: string;
  readonly candidates: string;
};

export const pointName = (row: Pick<PointRow, "trial" | "run" | "key">): string =>
  `${row.trial}#${row.run} ${row.key}`;

function byName(a: PointRow, b: PointRow): number {
  const [left, right] = [pointName(a), pointName(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

export class PointTable {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Stores what is not there yet, in one commit. Gives the names of what was new. */
  async insert(unordered: readonly PointRow[]): Promise<ReadonlySet<string>> {
    // Replicas that store the same rows at the same time must meet them in the same order, or they wait for each other.
    const rows = unordered.toSorted(byName);
    const inserted = await this.#query<Pick<PointRow, "trial" | "run" | "key">>({
      name: "insert-points",
      text: insert,
      values: [
        rows.map((row) => row.trial),
        rows.map((row) => row.run),
        rows.map((row) => row.key),
        rows.map((row) => row.group),
        rows.map((row) => row.step),
        rows.map((row) => row.atMs),
        rows.map((row) => row.metricsText),
      ],
    });
    return new Set(inserted.map(pointName));
  }

  /** Which of a run's reports are stored. */
  async stored(
    { trial, run }: Pick<PointRow, "trial" | "run">,
    keys: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const rows = await this.#query<Pick<PointRow, "key">>({
      name: "stored-points",
      text: "select key from metrics.points where trial = $1 and run = $2 and key = any($3::text[])",
      values: [trial, run, keys],
    });
    return new Set(rows.map(({ key }) => key));
  }

  /** In the order (run, step, key). */
  async select(query: PointQuery): Promise<PointRows> {
    const { trial, group, after, lastSteps, limit } = query;
    const selected = await this.#query<SelectedRow>({
      name: "select-points",
      text: select,
      values: [
        trial,
        group,
        after?.run ?? null,
        after?.step ?? null,
        after?.key ?? null,
        lastSteps.map(({ run }) => run),
        lastSteps.map(({ lastStep }) => lastStep),
        limit + 1,
        metricsLimits.pageBytesMax,
      ],
    });
    const rows = selected.slice(0, limit).map((row) => ({
      trial,
      run: row.run,
      key: row.key,
      group: row.group_name,
      step: row.step,
      atMs: row.at_ms,
      metricsText: row.metrics,
    }));
    return { rows, more: Number(selected[0]?.candidates ?? 0) > rows.length };
  }

  /** The values of the last report of a group by the newest run that has one; null when there is none. */
  async newest(trial: string, group: string): Promise<string | null> {
    const rows = await this.#query<Pick<SelectedRow, "metrics">>({
      name: "newest-point",
      text: `select metrics from metrics.points where trial = $1 and group_name = $2
             order by run desc, at_ms desc limit 1`,
      values: [trial, group],
    });
    return rows[0]?.metrics ?? null;
  }

  /** From the first training report of each run to its last. */
  async paces(trial: string): Promise<readonly Plain<Pace>[]> {
    return this.#query<Plain<Pace>>({
      name: "training-paces",
      text: `select run, max(step) - min(step) as steps, (max(at_ms) - min(at_ms)) / 1000 as seconds
             from metrics.points where trial = $1 and group_name = 'training'
             group by run order by run`,
      values: [trial],
    });
  }

  async #query<Row extends QueryResultRow>(query: QueryConfig): Promise<readonly Row[]> {
    try {
      return (await this.#pool.query<Row>(query)).rows;
    } catch (cause) {
      throw tableFault(cause, "points_unavailable", "the table of points");
    }
  }
}
