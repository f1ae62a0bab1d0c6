/** The baselines of the service: a JSONB row per report, and a narrow row with a unique index per point. */
import type pg from "pg";

type Report = {
  readonly key: string;
  readonly group: string;
  readonly stepsCompleted: number;
  readonly atMs: number;
  readonly metrics: Readonly<Record<string, number>>;
};

export async function createPlainTables(pool: pg.Pool): Promise<void> {
  await pool.query(`
    create table json_reports (
      id bigint generated always as identity primary key, trial text not null, run integer not null,
      group_name text not null, step double precision not null, at_ms double precision not null, metrics jsonb not null);
    create index on json_reports (trial, run, step);
    create table narrow_points (
      trial text not null, name text not null, step double precision not null, value double precision not null,
      at_ms double precision not null, unique (trial, name, step))`);
}

/** Inserts a report in one commit. */
export async function insertJsonReport(
  pool: pg.Pool,
  trial: string,
  report: Report,
): Promise<void> {
  const { group, stepsCompleted, atMs, metrics } = report;
  await pool.query({
    name: "json-report",
    text: `insert into json_reports (trial, run, group_name, step, at_ms, metrics) values ($1, 1, $2, $3, $4, $5)`,
    values: [trial, group, stepsCompleted, atMs, JSON.stringify(metrics)],
  });
}

/** Inserts one metric of `count` reports: the size of a row does not depend on the metric's name. */
export async function insertNarrow(
  pool: pg.Pool,
  trial: string,
  count: number,
  reportOf: (n: number) => Report,
): Promise<void> {
  const name = "metric_3";
  for (let start = 0; start < count; start += 10_000) {
    const some = Array.from({ length: Math.min(10_000, count - start) }, (_, i) =>
      reportOf(start + i),
    );
    await pool.query({
      name: "narrow-points",
      text: `insert into narrow_points select $1, $2, * from unnest($3::float8[], $4::float8[], $5::float8[])`,
      values: [
        ...[trial, name, some.map(({ stepsCompleted }) => stepsCompleted)],
        ...[some.map(({ metrics }) => metrics[name]), some.map(({ atMs }) => atMs)],
      ],
    });
  }
  await pool.query("analyze narrow_points");
}

export async function narrowBytes(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ bytes: number }>(
    `select pg_total_relation_size('narrow_points')::float8 / (select count(*) from narrow_points) as bytes`,
  );
  return rows[0]?.bytes ?? Number.NaN;
}

/** Reads the rows of a range and computes the extremes of 1,000 buckets in JavaScript. */
export async function narrowSeries(
  pool: pg.Pool,
  trial: string,
  name: string,
  from: number,
  to: number,
): Promise<string> {
  const { rows } = await pool.query<{ step: number; value: number }>({
    name: "narrow-series",
    text: `select step, value from narrow_points
           where trial = $1 and name = $2 and step between $3 and $4 order by step`,
    values: [trial, name, from, to],
  });
  const buckets = Array.from({ length: 1_000 }, () => ({
    min: Infinity,
    max: -Infinity,
    count: 0,
  }));
  for (const { step, value } of rows) {
    const bucket = buckets[Math.min(999, Math.floor(((step - from) / (to - from)) * 1_000))];
    if (bucket === undefined) continue;
    bucket.min = Math.min(bucket.min, value);
    bucket.max = Math.max(bucket.max, value);
    bucket.count += 1;
  }
  return JSON.stringify(buckets);
}
