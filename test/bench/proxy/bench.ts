/**
 * A task's page and streams to its port, through gateway and tunnel, beside two nginx in a row before the same server.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@trainyard/client";
import { systemClock } from "@trainyard/kernel/system-clock";
import { clusterAccess } from "@trainyard/local-cluster";
import { freePort } from "@trainyard/testing";
import { dialWebSocket } from "@trainyard/tunnel";
import { type BenchContext, type BenchResult, costResult, rateResult } from "../support/bench.ts";
import { benchCluster } from "../support/cluster.ts";
import { interleave, median } from "../support/measure.ts";
import { apiP99 } from "./api-beside.ts";
import { startNginx } from "./nginx.ts";
import {
  echoMs,
  idleKilobytes,
  keptConnection,
  openPage,
  openWebSocket,
  type Page,
  secondsOfPage,
} from "./page.ts";
import { serveByTask } from "./served.ts";
import { connected, type Open, secondsOfStream } from "./stream.ts";

const bars = {
  page: { id: "proxy_1gb", unit: "MB/s", floor: 0.15, goal: 0.3 },
  smallPage: { id: "proxy_p50", unit: "ms", floor: 0.1, goal: 0.3 },
  echo: { id: "websocket_echo", unit: "ms", floor: 0.1, goal: 0.3 },
  api: { id: "api_p99_during_1gb", unit: "ms", floor: 0.3, goal: 0.6 },
  stream: { id: "stream_1gb", unit: "MB/s", floor: 0.15, goal: 0.3 },
  smallStream: { id: "stream_p50", unit: "ms", floor: 0.1, goal: 0.3 },
  idle: { id: "idle_websocket_kb", unit: "KB", floor: null, goal: null },
};

const sizes = {
  tiny: { bytes: 2 ** 20, calls: 5, apiMs: 100, idle: 5, rounds: 1 },
  short: { bytes: 2 ** 30, calls: 300, apiMs: 5_000, idle: 1_000, rounds: 3 },
  full: { bytes: 2 ** 30, calls: 1_000, apiMs: 10_000, idle: 1_000, rounds: 11 },
};

/** The ways to the server: a page and streams, of the task or through both nginx. */
type Way = { readonly page: Page; readonly open: Open };

export async function run(context: BenchContext): Promise<readonly BenchResult[]> {
  const port = await freePort();
  await using cluster = benchCluster(context);
  const { processes } = await cluster.up();
  const client = cluster.client();
  await using served = await serveByTask(client, port);
  await using nginx = await startNginx(port);
  using _own = nginx === null ? null : context.watch.own(nginx.pids[0] ?? 0);
  const access = clusterAccess(cluster.home);
  const open: Open = () =>
    dialWebSocket(`${access?.api}/api/v1/tasks/${served.task}/streams/${port}`, {
      clock: systemClock,
      headers: { authorization: `Bearer ${access?.token}` },
    });
  await untilOpen(open);
  const page = await openPage(client, served.task);
  const theirs =
    nginx === null
      ? null
      : { page: { port: nginx.port, headers: {} }, open: () => connected(nginx.port) };
  const pids = new Set(processes.flatMap(({ pid }) => (pid === null ? [] : [pid])));
  return [
    // First, because later rounds leave memory that idle WebSockets would use.
    ...(context.wants(bars.idle.id) ? [await idleMemory(context, page, [...pids])] : []),
    ...(await besideNginx(context, { page, open }, theirs)),
    ...(context.wants(bars.api.id) ? [await apiBeside(context, client, served.task, page)] : []),
  ];
}

async function idleMemory({ size }: BenchContext, page: Page, pids: readonly number[]) {
  const { idle } = sizes[size];
  const kilobytes = await idleKilobytes(page, idle, pids);
  const note = `aim: 100; ${idle} idle WebSockets, memory of all processes of the cluster`;
  return costResult(bars.idle, kilobytes, null, note);
}

async function besideNginx(
  context: BenchContext,
  ours: Way,
  theirs: Way | null,
): Promise<readonly BenchResult[]> {
  const { bytes, calls, rounds } = sizes[context.size];
  const results: BenchResult[] = [];
  const measure = async (
    bar: (typeof bars)[keyof typeof bars],
    resultOf: typeof rateResult,
    round: (way: Way) => Promise<number>,
    how: string,
  ): Promise<void> => {
    if (!context.wants(bar.id)) return;
    const contenders = [{ name: bar.id, round: () => round(ours) }];
    if (theirs !== null) contenders.push({ name: "two nginx", round: () => round(theirs) });
    const [value = Number.NaN, baseline = null] = await interleave(contenders, rounds, context);
    results.push(resultOf(bar, value, baseline, theirs === null ? "nginx is not installed" : how));
  };
  const rate = (seconds: number): number => bytes / 1e6 / seconds;
  const kept = "one kept connection";
  const each = "a connection for each request";
  const page1gb = async ({ page }: Way) => {
    using agent = disposable(keptConnection());
    return rate(await secondsOfPage(page, bytes, agent));
  };
  const pageSmall = async ({ page }: Way) => {
    using agent = disposable(keptConnection());
    return await medianOf(calls, async () => 1_000 * (await secondsOfPage(page, 1_000, agent)));
  };
  const echo = async ({ page }: Way) => {
    const webSocket = await openWebSocket(page);
    const message = Buffer.alloc(100, "x");
    const ms = await medianOf(calls, () => echoMs(webSocket, message));
    webSocket.destroy();
    return ms;
  };
  await measure(bars.page, rateResult, page1gb, kept);
  await measure(bars.smallPage, costResult, pageSmall, kept);
  await measure(bars.echo, costResult, echo, "messages of 100 bytes on one WebSocket");
  await measure(
    bars.stream,
    rateResult,
    async ({ open }) => rate(await secondsOfStream(open, bytes)),
    each,
  );
  const streamSmall = ({ open }: Way) =>
    medianOf(Math.min(calls, 50), async () => 1_000 * (await secondsOfStream(open, 1_000)));
  await measure(bars.smallStream, costResult, streamSmall, each);
  return results;
}

async function apiBeside(context: BenchContext, client: Client, task: string, page: Page) {
  const { bytes, apiMs, rounds } = sizes[context.size];
  const call = () => client.call("getTask", { task });
  const [beside, alone] = await interleave(
    [
      { name: "beside a transfer", round: () => apiP99(call, apiMs, { page, bytes }) },
      { name: "alone", round: () => apiP99(call, apiMs, null) },
    ],
    rounds,
    context,
  );
  return costResult(bars.api, beside, alone, "one call of GetTask after the other");
}

async function medianOf(count: number, measured: () => Promise<number>): Promise<number> {
  const values: number[] = [];
  for (let call = 0; call < count; call += 1) values.push(await measured());
  return median(values);
}

const disposable = <T extends { destroy(): void }>(one: T): T & Disposable =>
  Object.assign(one, { [Symbol.dispose]: () => one.destroy() });

/** The agent's tunnel opens a moment after the run's first line. */
async function untilOpen(open: Open): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      (await open()).on("error", () => {}).destroy();
      return;
    } catch (error) {
      if (attempt === 200) throw error;
      await delay(100);
    }
  }
}
