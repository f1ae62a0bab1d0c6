/**
 * The time from sending a point's report to its arrival at a subscriber, through a whole cluster: HTTP, a durable
 * commit, NATS, the gateway and server-sent events. Reports are sent at a steady pace.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@trainyard/client";
import { runToken } from "@trainyard/runtime";
import { grantOf } from "../../world/run-grant.ts";
import { type BenchContext, type BenchResult, costResult } from "../support/bench.ts";
import { benchCluster } from "../support/cluster.ts";
import { pacedLatencies, percentile } from "../support/measure.ts";
import { metricsEach, reportOf } from "./reports.ts";

const trials = 2;
const aimMs = 200;

const loads = [
  { id: "live_p99_ms", pointsPerSecond: 1_000, reportsEach: 10 },
  { id: "live_p99_ms_20k", pointsPerSecond: 20_000, reportsEach: 100 },
];

export async function live(context: BenchContext): Promise<readonly BenchResult[]> {
  if (!context.wants(...loads.map(({ id }) => id))) return [];
  await using cluster = benchCluster(context, { slots: trials });
  const info = await cluster.up();
  const client = cluster.client();
  const experiment = await submitted(client);
  const results: BenchResult[] = [];
  for (const [rank, { id, pointsPerSecond, reportsEach }] of loads.entries()) {
    const seconds = { tiny: 0.2, short: 20, full: 60 }[context.size];
    const reporter = new Reporter(info.home, client, experiment, rank);
    const perSecond = pointsPerSecond / metricsEach / reportsEach;
    const during = (forSeconds: number) => {
      const requests = Math.ceil(forSeconds * perSecond);
      return measured(client, experiment, reporter, { perSecond, requests, reportsEach });
    };
    // The first seconds are not counted, because the code is still being compiled.
    await during(Math.min(3, seconds));
    const latencies = await during(seconds);
    const p99 = percentile(latencies, 0.99);
    const p50 = percentile(latencies, 0.5);
    context.say(
      `  ${pointsPerSecond} points/s: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
    );
    const note = `${pointsPerSecond} points/s for ${seconds} s in requests of ${reportsEach} reports, p50 ${p50.toFixed(0)} ms; the aim is ${aimMs} ms`;
    results.push(costResult({ id, unit: "ms", floor: null, goal: 1 }, p99, aimMs, note));
  }
  await client.call("killExperiment", { experiment });
  return results;
}

/** Submits an experiment whose trials do nothing. */
async function submitted(client: Client): Promise<string> {
  const config = `
name: live
entrypoint: sleep 3600
hyperparameters: { x: { type: double, minval: 0, maxval: 1 } }
searcher: { name: random, metric: loss, max_trials: ${trials} }
`;
  const own = ["-czf", "-", "-C", import.meta.dirname, "live.ts"];
  const context = execFileSync("tar", own, { maxBuffer: 1024 * 1024 });
  const { experiment } = await client.call("createExperiment", { config, context });
  const id = experiment?.id ?? "";
  for (;;) {
    const { items } = await client.call("listTrials", { experiment: id });
    if (items.length === trials && items.every(({ runs }) => runs.length > 0)) return id;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Sends numbered reports of the trials in turn. */
class Reporter {
  readonly #http: string;
  readonly #key: { readonly id: string; readonly secret: Buffer };
  readonly #client: Client;
  readonly #tokens = new Map<string, string>();
  readonly #experiment: string;
  /** The rank in the reporter's keys, which no other reporter uses. */
  readonly #rank: number;
  sent = 0;

  constructor(home: string, client: Client, experiment: string, rank: number) {
    const read = (name: string): unknown => JSON.parse(readFileSync(join(home, name), "utf8"));
    const { runTokenKey } = read("secrets.json") as {
      readonly runTokenKey: { readonly id: string; readonly secretHex: string };
    };
    const { metrics } = read("ports.json") as { readonly metrics: number };
    this.#http = `http://127.0.0.1:${metrics}`;
    this.#key = { id: runTokenKey.id, secret: Buffer.from(runTokenKey.secretHex, "hex") };
    this.#client = client;
    this.#experiment = experiment;
    this.#rank = rank;
  }

  /** Sends reports and resolves when they are acknowledged; `atMs` of each is the time of sending. */
  async send(count: number): Promise<void> {
    const atMs = performance.timeOrigin + performance.now();
    const first = this.sent;
    this.sent += count;
    const reports = Array.from({ length: count }, (_, i) => {
      const key = `${this.#rank}-${first + i}`;
      return { ...reportOf(first + i), group: `load ${this.#rank}`, key, atMs };
    });
    const run = `${this.#experiment}.${1 + ((first / count) % trials)}#1`;
    const response = await fetch(`${this.#http}/api/v1/runs/${encodeURIComponent(run)}/reports`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${await this.#tokenOf(run)}`,
      },
      body: JSON.stringify({ reports }),
    });
    if (response.status !== 200) throw new Error(await response.text());
    await response.arrayBuffer();
  }

  async #tokenOf(run: string): Promise<string> {
    const known = this.#tokens.get(run);
    if (known !== undefined) return known;
    const token = runToken(this.#key, await grantOf(this.#client, run));
    this.#tokens.set(run, token);
    return token;
  }
}

async function measured(
  client: Client,
  experiment: string,
  reporter: Reporter,
  load: { readonly perSecond: number; readonly requests: number; readonly reportsEach: number },
): Promise<readonly number[]> {
  const over = new AbortController();
  const latencies: number[] = [];
  const expected = load.requests * load.reportsEach;
  let isFollowing = (): void => {};
  const following = new Promise<void>((resolve) => (isFollowing = resolve));
  const heard = (async () => {
    const stream = client.stream("followMetrics", { experiment }, { signal: over.signal });
    for await (const { message } of stream) {
      isFollowing();
      if (message.point === undefined) continue;
      latencies.push(performance.timeOrigin + performance.now() - message.point.reportedAtMs);
      if (latencies.length === expected) return;
    }
  })();
  await following;
  await pacedLatencies(load.perSecond, load.requests, () => reporter.send(load.reportsEach));
  await heard;
  over.abort();
  return latencies;
}
