/** Reports of ten scalars: taken over HTTP until they are durable, their room, and charts of a million of them. */
import { type BenchContext, type BenchResult, costResult, rateResult } from "../support/bench.ts";
import { callsPerSecond, interleave } from "../support/measure.ts";
import {
  createPlainTables,
  insertJsonReport,
  insertNarrow,
  narrowBytes,
  narrowSeries,
} from "./plain.ts";
import { grpcBesideHttp } from "./grpc.ts";
import { live } from "./live.ts";
import { metricsEach, perRequest, reportOf } from "./reports.ts";
import { MetricsStage } from "./stage.ts";

const callers = 8;

const bars = {
  parse: { id: "ingest_http_vs_parse", unit: "points/s", floor: 0.4, goal: 0.6 },
  row: { id: "ingest_vs_jsonb_row", unit: "points/s", floor: 4, goal: 8 },
  bytes: { id: "bytes_vs_narrow", unit: "bytes/point", floor: null, goal: 5 },
  series: { id: "series_1m_vs_narrow", unit: "ms", floor: 4, goal: 8 },
  compare: { id: "compare_100x100k_ms", unit: "ms", floor: null, goal: 1 },
};

export async function run(context: BenchContext): Promise<readonly BenchResult[]> {
  const streamed = await live(context);
  await using stage = await MetricsStage.start();
  using _own = context.watch.own(stage.pid);
  await createPlainTables(stage.pool);
  return [
    ...streamed,
    ...(await ingest(context, stage)),
    await grpcBesideHttp(context, stage),
    ...(await series(context, stage)),
    await compare(context, stage),
  ];
}

async function ingest(context: BenchContext, stage: MetricsStage): Promise<readonly BenchResult[]> {
  const forMs = { tiny: 200, short: 5_000, full: 15_000 }[context.size];
  const rounds = { tiny: 1, short: 5, full: 7 }[context.size];
  const trials = Array.from({ length: callers }, (_, caller) => `1.${caller + 1}`);
  for (const trial of trials) await stage.run(trial);
  const next = trials.map(() => 0);
  const bodyOf = (caller: number): string => {
    const start = next[caller] ?? 0;
    next[caller] = start + perRequest;
    return JSON.stringify({
      reports: Array.from({ length: perRequest }, (_, i) => reportOf(start + i)),
    });
  };
  // Made before the clock runs, as what makes them is another host's; a round that needs more makes them while it runs.
  const prepared = trials.map((): string[] => []);
  const prepare = (): void => {
    for (const [caller, own] of prepared.entries()) {
      while (own.length < forMs / 4) own.push(bodyOf(caller));
    }
  };
  const take = (caller: number): string => prepared[caller]?.pop() ?? bodyOf(caller);
  const points = perRequest * metricsEach;
  const rate = async (once: (caller: number) => Promise<void>): Promise<number> => {
    prepare();
    return callsPerSecond(callers, forMs, once);
  };
  const [durable, parsed, rows] = await interleave(
    [
      {
        name: "reports over HTTP, durable",
        round: async () =>
          points * (await rate((caller) => stage.report(trials[caller] ?? "", take(caller)))),
      },
      {
        name: "requests that are only parsed",
        round: async () => points * (await rate((caller) => stage.parse(take(caller)))),
      },
      {
        name: "a JSONB row a report",
        round: async () => {
          let n = 0;
          return (
            metricsEach *
            (await callsPerSecond(callers, forMs, (caller) => {
              n += 1;
              return insertJsonReport(stage.pool, trials[caller] ?? "", reportOf(n));
            }))
          );
        },
      },
    ],
    rounds,
    context,
  );
  const note = `${perRequest} reports of ${metricsEach} scalars a request, ${callers} connections`;
  return [
    rateResult(bars.parse, durable, parsed, note),
    rateResult(bars.row, durable, rows, `${note}; a commit for each row`),
  ];
}

/** Fills a trial with reports, and waits until they are compacted. */
async function fill(stage: MetricsStage, trial: string, reports: number): Promise<void> {
  await stage.run(trial);
  for (let start = 0; start < reports; start += 1_000) {
    const count = Math.min(1_000, reports - start);
    const some = Array.from({ length: count }, (_, i) => reportOf(start + i));
    await stage.report(trial, JSON.stringify({ reports: some }));
  }
}

async function compacted(stage: MetricsStage): Promise<void> {
  for (;;) {
    await stage.stage.sql("update metrics.runs set due_at = now() where tail_weight > 0");
    const left = await stage.stage.sql("select from metrics.tails limit 1");
    if (left.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function series(context: BenchContext, stage: MetricsStage): Promise<readonly BenchResult[]> {
  const reports = { tiny: 2_000, short: 1_000_000, full: 1_000_000 }[context.size];
  const rounds = { tiny: 1, short: 5, full: 9 }[context.size];
  context.say(`a trial of ${reports} reports`);
  await fill(stage, "2.1", reports);
  await insertNarrow(stage.pool, "2.1", reports, reportOf);
  await compacted(stage);
  await stage.stage.sql("vacuum full metrics.blocks, metrics.columns, metrics.tails");
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
  const query = { trials: ["2.1"], names: ["metric_3"], group: "", x: "", buckets: 1_000 };
  const [ours, narrow] = await interleave(
    [
      {
        name: "series of a million points",
        round: async () => {
          await stage.restart();
          return timed((from, to) =>
            stage.series({ ...query, from, to, superseded: false, combined: false }),
          );
        },
      },
      {
        name: "the same of narrow rows",
        round: () => timed((from, to) => narrowSeries(stage.pool, "2.1", "metric_3", from, to)),
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

async function compare(context: BenchContext, stage: MetricsStage): Promise<BenchResult> {
  const [trials, reports] = { tiny: [2, 200], short: [100, 10_000], full: [100, 100_000] }[
    context.size
  ] as [number, number];
  context.say(`${trials} trials of ${reports} reports`);
  const names = Array.from({ length: trials }, (_, n) => `3.${n + 1}`);
  for (const trial of names) await fill(stage, trial, reports);
  await compacted(stage);
  const [ours] = await interleave(
    [
      {
        name: "one metric of all trials",
        round: async () => {
          const start = performance.now();
          for (let from = 0; from < names.length; from += 4) {
            const some = names.slice(from, from + 4).map((trial) =>
              stage.series({
                ...{ trials: [trial], names: ["metric_3"], group: "", x: "", buckets: 1_000 },
                ...{ superseded: false, combined: false },
              }),
            );
            await Promise.all(some);
          }
          return performance.now() - start;
        },
      },
    ],
    { tiny: 1, short: 3, full: 3 }[context.size],
    context,
  );
  // In a short run the series are a tenth as long.
  const note = `${trials} series of ${reports} points to 1,000 buckets each; the aim of 500 ms is for 100,000 points`;
  return costResult(bars.compare, ours, 500, note);
}
