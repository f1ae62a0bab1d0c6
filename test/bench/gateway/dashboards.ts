/**
 * Dashboards of one experiment that runs, at two gateways, which share answers in a Redis beside two that share none.
 * Each dashboard reads its panels at an interval, from a moment of its own, as Grafana does.
 */
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { startNats } from "@trainyard/bus/testing";
import type { AnyEvent } from "@trainyard/contracts";
import { createPostgresLog } from "@trainyard/event-log";
import { freePort, hasRedis, startRedis } from "@trainyard/testing";
import { reportOf } from "../metrics/reports.ts";
import { MetricsStage } from "../metrics/stage.ts";
import { type BenchContext, type BenchResult, costResult } from "../support/bench.ts";
import { createGatewayDatabase, openGateway, untilFolded } from "../support/gateway.ts";
import { interleave, median } from "../support/measure.ts";
import { appendNew, experiment, trialCreated } from "./experiments.ts";
import { tokensOf } from "./watch-cost.ts";

export const dashboardsBar = { id: "series_shared_vs_alone", unit: "ms", floor: 2, goal: null };

const database = "dashboards";
/** An experiment that has not ended, and has no trial of its own yet. */
const experimentId = 150;
const tickMs = 10;

type Load = {
  readonly trials: number;
  /** The reports of each trial before the dashboards open, and of all trials in a second. */
  readonly reports: number;
  readonly reportsPerSecond: number;
  readonly dashboards: number;
  readonly refreshes: number;
  readonly refreshMs: number;
};

const loads: Readonly<Record<BenchContext["size"], Load>> = {
  tiny: {
    ...{ trials: 2, reports: 100, reportsPerSecond: 20 },
    ...{ dashboards: 4, refreshes: 2, refreshMs: 100 },
  },
  short: {
    ...{ trials: 8, reports: 5_000, reportsPerSecond: 2 },
    ...{ dashboards: 50, refreshes: 3, refreshMs: 5_000 },
  },
  full: {
    ...{ trials: 8, reports: 5_000, reportsPerSecond: 2 },
    ...{ dashboards: 50, refreshes: 12, refreshMs: 5_000 },
  },
};

/** Returns nothing without redis-server. */
export async function sharedDashboards(context: BenchContext): Promise<readonly BenchResult[]> {
  if (!hasRedis()) {
    context.say("  no redis-server: series_shared_vs_alone is not measured");
    return [];
  }
  const load = loads[context.size];
  await using stack = new AsyncDisposableStack();
  const nats = stack.use(await startNats());
  const redis = stack.use(await startRedis(await freePort()));
  const stage = stack.use(await MetricsStage.withoutService());
  stage.natsUrl = nats.url;
  await stage.restart();
  const trials = Array.from({ length: load.trials }, (_, n) => `${experimentId}.${n + 1}`);
  const reports = new Reports(stage, trials);
  context.say(`  ${trials.length} trials of ${load.reports} reports`);
  await reports.fill(load.reports);
  const { postgres } = stage.stage;
  await appendTrials(await createGatewayDatabase(postgres, database), load.trials);
  const gateways = async (redisUrl: string | null): Promise<readonly string[]> => {
    const open = () => openGateway(stack, postgres, database, { natsUrl: nats.url, redisUrl });
    return [(await open()).address, (await open()).address];
  };
  const alone = await gateways(null);
  const shared = await gateways(`redis://127.0.0.1:${redis.port}`);
  const gatewayUrl = postgres.url({ user: "ty_gateway", database });
  const tokens = await tokensOf(gatewayUrl, load.dashboards);
  const panels = panelsOf(trials);
  for (const url of [...alone, ...shared]) {
    await untilFolded(async () => (await read(url, tokens.at(-1) ?? "", panels[0] ?? "")) > 0);
  }
  const rounds = { tiny: 1, short: 3, full: 5 }[context.size];
  const round = (urls: readonly string[]) => async () => {
    using _reporting = reports.steadily(load.reportsPerSecond);
    const before = usedMs(stage.pid);
    const tookMs = await watched({ urls, tokens, panels, load });
    context.say(`  a dashboard is read in ${median(tookMs).toFixed(0)} ms`);
    return usedMs(stage.pid) - before;
  };
  const [withRedis, without] = await interleave(
    [
      { name: "with a Redis", round: round(shared) },
      { name: "without", round: round(alone) },
    ],
    rounds,
    context,
  );
  const note = `processor time of the metrics service while ${load.dashboards} dashboards at two gateways read ${panels.length} panels each ${load.refreshMs / 1_000} s, ${load.refreshes} times; ${load.trials} trials of ${load.reports} reports add ${load.reportsPerSecond} a second in all; baseline: without Redis`;
  return [costResult(dashboardsBar, withRedis, without, note)];
}

/** Returns the paths of the panels: the lines of all trials for three metrics, and the mean of all for one. */
function panelsOf(trials: readonly string[]): readonly string[] {
  const path = (name: string, others: Readonly<Record<string, string>>): string => {
    const named = trials.map((trial): [string, string] => ["trials", trial]);
    return `/api/v1/metrics:series?${new URLSearchParams([...named, ["names", name], ...Object.entries(others)])}`;
  };
  const lines = [0, 1, 2].map((n) => path(`metric_${n}`, { buckets: "200" }));
  return [...lines, path("metric_0", { buckets: "200", combined: "true" })];
}

async function appendTrials(url: string, count: number): Promise<void> {
  await using log = createPostgresLog({ connectionString: url });
  await appendNew(log, experiment(experimentId));
  for (let number = 1; number <= count; number += 1) {
    const { type, data } = trialCreated(experimentId, {});
    const created = { type, data: { ...data, number } } as AnyEvent;
    await appendNew(log, [{ stream: `trial-${experimentId}.${number}`, events: [created] }]);
  }
}

/** Reads all panels of all dashboards; returns the milliseconds of each read. */
async function watched(of: {
  readonly urls: readonly string[];
  readonly tokens: readonly string[];
  readonly panels: readonly string[];
  readonly load: Load;
}): Promise<readonly number[]> {
  const { urls, tokens, panels, load } = of;
  const took: number[] = [];
  const dashboard = async (token: string, index: number): Promise<void> => {
    const url = urls[index % urls.length] ?? "";
    const firstMs =
      performance.now() + (load.refreshMs * ((index * 17) % tokens.length)) / tokens.length;
    for (let refresh = 0; refresh < load.refreshes; refresh += 1) {
      const dueMs = firstMs + refresh * load.refreshMs;
      await delay(Math.max(0, dueMs - performance.now()));
      const start = performance.now();
      await Promise.all(panels.map((panel) => read(url, token, panel)));
      took.push(performance.now() - start);
    }
  };
  await Promise.all(tokens.map(dashboard));
  return took;
}

/** Returns the bytes of an answer, which is not parsed: the callers share the processor with the gateways here. */
async function read(url: string, token: string, path: string): Promise<number> {
  const answer = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } });
  const bytes = await answer.arrayBuffer();
  if (answer.status !== 200) throw new Error(Buffer.from(bytes).toString("utf8"));
  return bytes.byteLength;
}

/** The reports of the trials, in the order of their steps. */
class Reports {
  readonly #stage: MetricsStage;
  readonly #trials: readonly string[];
  #sent = 0;

  constructor(stage: MetricsStage, trials: readonly string[]) {
    this.#stage = stage;
    this.#trials = trials;
  }

  async fill(each: number): Promise<void> {
    for (const trial of this.#trials) await this.#stage.run(trial);
    for (let from = 0; from < each; from += 1_000) {
      const list = Array.from({ length: Math.min(1_000, each - from) }, (_, n) =>
        reportOf(from + n),
      );
      const body = JSON.stringify({ reports: list });
      await Promise.all(this.#trials.map((trial) => this.#stage.report(trial, body)));
    }
    this.#sent = each * this.#trials.length;
  }

  /** Reports of the trials in turn, until it is disposed. */
  steadily(perSecond: number): Disposable {
    const timer = setInterval(() => void this.#next(), 1_000 / perSecond);
    return { [Symbol.dispose]: () => clearInterval(timer) };
  }

  async #next(): Promise<void> {
    const sent = this.#sent;
    this.#sent += 1;
    const trial = this.#trials[sent % this.#trials.length] ?? "";
    const step = Math.floor(sent / this.#trials.length);
    await this.#stage.report(trial, JSON.stringify({ reports: [reportOf(step)] }));
  }
}

/** The processor time of a process without its children, in milliseconds. */
function usedMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * tickMs;
}
