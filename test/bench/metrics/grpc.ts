/** Reports in gRPC streams compared with the same batches over HTTP, both until they are durable. */
import { ReportService } from "@trainyard/contracts/api";
import { requestBytes } from "@trainyard/runtime/grpc";
import { type BenchContext, type BenchResult, rateResult } from "../support/bench.ts";
import { callsPerSecond, interleave } from "../support/measure.ts";
import { metricsEach, perRequest, reportOf } from "./reports.ts";
import type { MetricsStage, ReportStream } from "./stage.ts";

const callers = 8;
export const grpcBar = { id: "ingest_grpc_vs_http", unit: "points/s", floor: 0.7, goal: 1 };

export async function grpcBesideHttp(
  context: BenchContext,
  stage: MetricsStage,
): Promise<BenchResult> {
  const forMs = { tiny: 10, short: 3_000, full: 10_000 }[context.size];
  const rounds = { tiny: 1, short: 5, full: 7 }[context.size];
  const trials = Array.from({ length: callers }, (_, caller) => `4.${caller + 1}`);
  for (const trial of trials) await stage.run(trial);
  using open = new DisposableStack();
  const streams: ReportStream[] = [];
  for (const trial of trials) streams.push(open.use(await stage.openStream(trial)));
  const next = trials.map(() => 0);
  const batchOf = (caller: number) => {
    const start = next[caller] ?? 0;
    next[caller] = start + perRequest;
    return Array.from({ length: perRequest }, (_, i) => reportOf(start + i));
  };
  const { streamReports } = ReportService.method;
  const texts = trials.map((): string[] => []);
  const bytes = trials.map((): Buffer[] => []);
  const textOf = (caller: number): string => JSON.stringify({ reports: batchOf(caller) });
  const bytesOf = (caller: number): Buffer =>
    requestBytes(streamReports, { batch: 1, reports: batchOf(caller) });
  // Requests are built before the clock starts, since another host would build them.
  const prepare = (): void => {
    for (const caller of trials.keys()) {
      const [ownTexts, ownBytes] = [texts[caller] ?? [], bytes[caller] ?? []];
      while (ownTexts.length < forMs / 4) ownTexts.push(textOf(caller));
      while (ownBytes.length < forMs / 4) ownBytes.push(bytesOf(caller));
    }
  };
  const points = perRequest * metricsEach;
  const rate = async (send: (caller: number) => Promise<void>): Promise<number> => {
    prepare();
    return points * (await callsPerSecond(callers, forMs, send));
  };
  const [grpc, http] = await interleave(
    [
      {
        name: "reports over gRPC, durable",
        round: () =>
          rate(async (caller) => streams[caller]?.report(bytes[caller]?.pop() ?? bytesOf(caller))),
      },
      {
        name: "reports over HTTP, durable",
        round: () =>
          rate((caller) =>
            stage.report(trials[caller] ?? "", texts[caller]?.pop() ?? textOf(caller)),
          ),
      },
    ],
    rounds,
    context,
  );
  const note = `${perRequest} reports of ${metricsEach} scalars a batch, ${callers} streams beside ${callers} connections`;
  return rateResult(grpcBar, grpc, http, note);
}
