/**
 * Charts of a million points and of a hundred trials, over data that the service stored and compacted once and that is
 * kept.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { madeOnce, postgresBinaries } from "@trainyard/testing";
import { type BenchContext, type BenchResult, costResult } from "../support/bench.ts";
import { interleave } from "../support/measure.ts";
import { createPlainTables, insertNarrow, narrowBytes, narrowSeries } from "./plain.ts";
import { reportOf } from "./reports.ts";
import { MetricsStage } from "./stage.ts";

const bars = {
  bytes: { id: "bytes_vs_narrow", unit: "bytes/point", floor: null, goal: 5 },
  series: { id: "series_1m_vs_narrow", unit: "ms", floor: 4, goal: 8 },
  compare: { id: "compare_100x100k_ms", unit: "ms", floor: null, goal: 1 },
};

const long = "2.1";
const metric = "metric_3";
const asked = { names: [metric], group: "", x: "", buckets: 1_000 };
const plain = { superseded: false, combined: false };

export async function charts(context: BenchContext): Promise<readonly BenchResult[]> {
  return [
    ...(context.wants(bars.bytes.id, bars.series.id) ? await series(context) : []),
    ...(context.wants(bars.compare.id) ? [await compare(context)] : []),
  ];
}

async function series(context: BenchContext): Promise<readonly BenchResult[]> {
  const reports = { tiny: 2_000, short: 1_000_000, full: 1_000_000 }[context.size];
  const rounds = { tiny: 1, short: 5, full: 9 }[context.size];
  const data = await keptData(`long-${reports}`, context, async (stage) => {
    context.say(`a trial of ${reports} reports`);
    await createPlainTables(stage.pool);
    await fill(stage, long, reports);
    await insertNarrow(stage.pool, long, reports, reportOf);
    await compacted(stage);
  });
  await using stage = await MetricsStage.withoutService(data);
  const room = `select sum(pg_total_relation_size(c))::float8 as bytes
    from unnest('{metrics.blocks, metrics.columns, metrics.runs, metrics.names, metrics.tails}'::regclass[]) as c`;
  const [own] = await stage.stage.sql<{ bytes: number }>(room);
  const [count] = await stage.stage.sql<{ points: number }>(
    "select sum(points)::float8 as points from metrics.columns",
  );
  const bytes = (own?.bytes ?? 0) / (count?.points ?? 1);
  let seed = 1;
  const range = (): readonly [number, number] => {
    seed = (seed * 48_271) % 2_147_483_647;
    const from = Math.floor((seed / 2_147_483_647) * reports * 0.1) * 10;
    return [from, from + 9 * reports];
  };
  const timed = async (ask: (from: number, to: number) => Promise<unknown>): Promise<number> => {
    const [from, to] = range();
    const start = performance.now();
    await ask(from, to);
    return performance.now() - start;
  };
  const [ours, narrow] = await interleave(
    [
      {
        name: "series of a million points",
        round: async () => {
          await stage.restart();
          return timed((from, to) =>
            stage.series({ trials: [long], ...asked, from, to, ...plain }),
          );
        },
      },
      {
        name: "the same of narrow rows",
        round: () => timed((from, to) => narrowSeries(stage.pool, long, metric, from, to)),
      },
    ],
    rounds,
    context,
  );
  const narrowEach = await narrowBytes(stage.pool);
  return [
    costResult(
      bars.bytes,
      bytes,
      narrowEach,
      "tables and indexes; of ours also keys, times and names",
    ),
    costResult(
      bars.series,
      ours,
      narrow,
      "nine tenths of a million points to 1,000 buckets; a service just started",
    ),
  ];
}

/** Many trials that have reported one metric: their ids, and the folder of a stage's data. */
export type ManyTrials = {
  readonly trials: readonly string[];
  readonly reports: number;
  readonly data: string;
};

/** Returns trials of experiment 3, whose data is made once. */
export async function manyTrials(context: BenchContext): Promise<ManyTrials> {
  const [count, reports] = { tiny: [2, 200], short: [100, 100_000], full: [100, 100_000] }[
    context.size
  ] as [number, number];
  const trials = Array.from({ length: count }, (_, n) => `3.${n + 1}`);
  const data = await keptData(`many-${count}-${reports}`, context, async (stage) => {
    context.say(`${count} trials of ${reports} reports`);
    const [first = "", ...others] = trials;
    await fill(stage, first, reports);
    await compacted(stage);
    await copyTrial(stage, first, others);
  });
  return { trials, reports, data };
}

async function compare(context: BenchContext): Promise<BenchResult> {
  const { trials, reports, data } = await manyTrials(context);
  await using stage = await MetricsStage.start(data);
  using _own = context.watch.own(stage.pid);
  const [ours] = await interleave(
    [
      {
        name: "one metric of all trials",
        round: async () => {
          const start = performance.now();
          // One answer has at most four trials.
          for (let from = 0; from < trials.length; from += 4) {
            await stage.series({ trials: trials.slice(from, from + 4), ...asked, ...plain });
          }
          return performance.now() - start;
        },
      },
    ],
    { tiny: 1, short: 3, full: 5 }[context.size],
    context,
  );
  const note = `${trials.length} series of ${reports} points to 1,000 buckets each; the aim is 500 ms`;
  return costResult(bars.compare, ours, 500, note);
}

const root = join(import.meta.dirname, "../../..");
const foldersOfTheForm = ["services/metrics/migrations", "services/metrics/src/core/columns"];
const filesOfTheForm = ["charts.ts", "plain.ts", "reports.ts"];

/** Returns a data folder with the data that `make` stores, built once per version of the data. */
async function keptData(
  name: string,
  context: BenchContext,
  make: (stage: MetricsStage) => Promise<void>,
): Promise<string> {
  const digest = createHash("sha256");
  for (const folder of foldersOfTheForm) {
    for (const file of readdirSync(join(root, folder)).toSorted()) {
      digest.update(readFileSync(join(root, folder, file)));
    }
  }
  for (const file of filesOfTheForm) digest.update(readFileSync(join(import.meta.dirname, file)));
  const { runAs } = await postgresBinaries();
  const uid = runAs?.uid ?? process.getuid?.() ?? 0;
  const kept = `trainyard-bench-metrics-${name}-${digest.digest("hex").slice(0, 16)}`;
  return madeOnce(kept, uid, async (folder) => {
    context.say("making the data, once");
    await using stage = await MetricsStage.start();
    using _own = context.watch.own(stage.pid);
    await make(stage);
    await stage.stage.sql("vacuum full");
    await stage.stage.sql("analyze");
    await stage.save(folder);
  });
}

/** The number of concurrent requests. */
const callers = 4;

async function fill(stage: MetricsStage, trial: string, reports: number): Promise<void> {
  await stage.run(trial);
  let next = 0;
  const some = async (): Promise<void> => {
    while (next < reports) {
      const start = next;
      next = Math.min(next + 1_000, reports);
      const list = Array.from({ length: next - start }, (_, i) => reportOf(start + i));
      await stage.report(trial, JSON.stringify({ reports: list }));
    }
  };
  await Promise.all(Array.from({ length: callers }, some));
}

async function compacted(stage: MetricsStage): Promise<void> {
  for (;;) {
    await stage.stage.sql("update metrics.runs set due_at = now() where tail_weight > 0");
    const left = await stage.stage.sql("select from metrics.tails limit 1");
    if (left.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/**
 * Copies one metric of a trial's blocks under the names of other trials: their charts cost as much as if each had
 * reported it.
 */
async function copyTrial(
  stage: MetricsStage,
  trial: string,
  others: readonly string[],
): Promise<void> {
  const columnsOf = async (table: string): Promise<readonly string[]> => {
    const text = `select column_name as name from information_schema.columns
      where table_schema = 'metrics' and table_name = $1 order by ordinal_position`;
    return (await stage.stage.sql<{ name: string }>(text, [table])).map(({ name }) => name);
  };
  const blocks = (await columnsOf("blocks")).filter((name) => name !== "id" && name !== "trial");
  const columns = (await columnsOf("columns")).filter((name) => name !== "block");
  for (const other of others) {
    await stage.run(other);
    // The two lists are in the order of the first trial's blocks, so their n-th blocks correspond.
    await stage.stage.sql(
      `with given as (
         insert into metrics.blocks (trial, ${blocks.join(", ")})
         select $2, ${blocks.join(", ")} from metrics.blocks where trial = $1 order by id
         returning id
       ), pairs as (
         select old.id as old, new.id as new
         from (select id, row_number() over (order by id) as n from metrics.blocks where trial = $1) as old
         join (select id, row_number() over (order by id) as n from given) as new using (n)
       )
       insert into metrics.columns (block, ${columns.join(", ")})
       select pairs.new, ${columns.join(", ")} from metrics.columns join pairs on pairs.old = columns.block
       where columns.name = $3`,
      [trial, other, metric],
    );
    await stage.stage.sql(
      `insert into metrics.names select $2, group_name, name, kind from metrics.names
       where trial = $1 and name = $3`,
      [trial, other, metric],
    );
  }
}
