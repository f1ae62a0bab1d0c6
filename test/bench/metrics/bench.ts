/**
 * Reports of ten scalars: sent over HTTP until they are durable, their size on disk, and charts of a million of them.
 */
import { type BenchContext, type BenchResult, rateResult } from "../support/bench.ts";
import { callsPerSecond, interleave } from "../support/measure.ts";
import { charts } from "./charts.ts";
import { createPlainTables, insertJsonReport } from "./plain.ts";
import { grpcBar, grpcBesideHttp } from "./grpc.ts";
import { live } from "./live.ts";
import { metricsEach, perRequest, reportOf } from "./reports.ts";
import { MetricsStage } from "./stage.ts";

const callers = 8;

const bars = {
  parse: { id: "ingest_http_vs_parse", unit: "points/s", floor: 0.4, goal: 0.6 },
  row: { id: "ingest_vs_jsonb_row", unit: "points/s", floor: 4, goal: 8 },
};

export async function run(context: BenchContext): Promise<readonly BenchResult[]> {
  return [...(await live(context)), ...(await written(context)), ...(await charts(context))];
}

async function written(context: BenchContext): Promise<readonly BenchResult[]> {
  const [besidePlain, besideGrpc] = [[bars.parse.id, bars.row.id], [grpcBar.id]];
  if (!context.wants(...besidePlain, ...besideGrpc)) return [];
  await using stage = await MetricsStage.start();
  using _own = context.watch.own(stage.pid);
  await createPlainTables(stage.pool);
  return [
    ...(context.wants(...besidePlain) ? await ingest(context, stage) : []),
    ...(context.wants(...besideGrpc) ? [await grpcBesideHttp(context, stage)] : []),
  ];
}

async function ingest(context: BenchContext, stage: MetricsStage): Promise<readonly BenchResult[]> {
  const forMs = { tiny: 10, short: 5_000, full: 15_000 }[context.size];
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
  // Requests are built before the clock starts, since another host would build them; further ones are built during the
  // round.
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
