/** Streams through gateway and tunnel to a port of a run, beside two nginx in a row before the same server. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { clusterAccess } from "@trainyard/local-cluster";
import { systemClock } from "@trainyard/kernel/system-clock";
import { freePort } from "@trainyard/testing";
import { dialWebSocket } from "@trainyard/tunnel";
import { type BenchContext, type BenchResult, costResult, rateResult } from "../support/bench.ts";
import { benchCluster } from "../support/cluster.ts";
import { interleave, median } from "../support/measure.ts";
import { startNginx } from "./nginx.ts";
import { serveByTrial } from "./served.ts";

const bulkBar = { id: "stream_1gb", unit: "MB/s", floor: 0.15, goal: 0.3 };
const smallBar = { id: "stream_p50", unit: "ms", floor: 0.1, goal: 0.3 };
const idleBar = { id: "idle_websocket_kb", unit: "KB", floor: null, goal: null };

/** Opens a connection to the server that is measured. */
type Open = () => Promise<Duplex>;

export async function run(context: BenchContext): Promise<readonly BenchResult[]> {
  const { bytes, idle, rounds } = {
    tiny: { bytes: 2 ** 20, idle: 5, rounds: 1 },
    short: { bytes: 2 ** 30, idle: 1_000, rounds: 3 },
    full: { bytes: 2 ** 30, idle: 1_000, rounds: 11 },
  }[context.size];
  const port = await freePort();
  await using cluster = benchCluster(context);
  const { processes } = await cluster.up();
  await using served = await serveByTrial(cluster.client(), port);
  await using nginx = await startNginx(port);
  using _own = nginx === null ? null : context.watch.own(nginx.pids[0] ?? 0);
  const access = clusterAccess(cluster.home);
  const ours: Open = () =>
    dialWebSocket(`${access?.api}/api/v1/trials/${served.trial}/streams/${port}`, {
      clock: systemClock,
      headers: { authorization: `Bearer ${access?.token}` },
    });
  await untilOpen(ours);
  const theirs = nginx === null ? null : () => connected(nginx.port);
  const measured = async (round: (open: Open) => Promise<number>) => {
    const contenders = [{ name: "stream", round: () => round(ours) }];
    if (theirs !== null) contenders.push({ name: "two nginx", round: () => round(theirs) });
    const [value = Number.NaN, baseline = null] = await interleave(contenders, rounds, context);
    return { value, baseline };
  };
  // First, because later rounds leave memory that idle streams would use.
  const pids = new Set(processes.flatMap(({ pid }) => (pid === null ? [] : [pid])));
  const idleKb = await idleKilobytes(ours, idle, [...pids]);
  const bulk = await measured(async (open) => bytes / 1e6 / (await secondsOf(open, bytes)));
  const small = await measured(async (open) => {
    const times: number[] = [];
    for (let call = 0; call < 50; call += 1) times.push(1_000 * (await secondsOf(open, 1_000)));
    return median(times);
  });
  const note = nginx === null ? "nginx is not installed" : "a connection for each request";
  return [
    rateResult(bulkBar, bulk.value, bulk.baseline, note),
    costResult(smallBar, small.value, small.baseline, note),
    costResult(
      idleBar,
      idleKb,
      null,
      `aim: 100; ${idle} idle streams, memory of all processes of the cluster`,
    ),
  ];
}

/** Returns the time of a request for this number of bytes, with its connection. */
async function secondsOf(open: Open, bytes: number): Promise<number> {
  const start = performance.now();
  const stream = await open();
  stream.write(`GET /${bytes} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
  let got = 0;
  for await (const chunk of stream) {
    got += (chunk as Buffer).length;
    if (got >= bytes + 60) break;
  }
  stream.on("error", () => {}).destroy();
  if (got < bytes) throw new Error(`${got} of ${bytes} bytes arrived`);
  return (performance.now() - start) / 1_000;
}

async function idleKilobytes(open: Open, count: number, pids: readonly number[]): Promise<number> {
  const before = memoryKilobytes(pids);
  const streams: Duplex[] = [];
  while (streams.length < count) {
    const some = Math.min(20, count - streams.length);
    streams.push(...(await Promise.all(Array.from({ length: some }, open))));
  }
  for (const stream of streams) stream.on("error", () => {}).write("GET /hold HTTP/1.1\r\n\r\n");
  await delay(count > 100 ? 5_000 : 0);
  const after = memoryKilobytes(pids);
  for (const stream of streams) stream.destroy();
  return Math.max(0.1, (after - before) / count);
}

const memoryKilobytes = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return sum + Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  }, 0);

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

async function connected(port: number): Promise<Duplex> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  return socket;
}
