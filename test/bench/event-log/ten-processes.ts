/**
 * Ten processes append to one log on a disk whose commits take 2 ms longer, which shows the cost of the single order
 * with slow syncs.
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { join } from "node:path";
import type { BenchContext, BenchResult } from "../support/bench.ts";
import { rateResult } from "../support/bench.ts";
import { startBenchServer } from "../support/log-server.ts";
import { callsPerSecond, interleave } from "../support/measure.ts";
import { openRaw } from "./raw.ts";

const bar = { id: "ten_processes_2ms_commit", unit: "commits/s", floor: null, goal: null };
const callersEach = 8;

export async function tenProcesses(context: BenchContext): Promise<BenchResult> {
  const processes = context.size === "tiny" ? 2 : 10;
  const rounds = context.size === "tiny" ? 1 : 3;
  const forMs = { tiny: 20, short: 1_500, full: 10_000 }[context.size];
  context.say(`${processes} processes, 2 ms of added commit delay`);
  // The server waits before each sync, even if no other commit is in progress.
  await using server = await startBenchServer({ commit_delay: 2_000, commit_siblings: 0 });
  const url = await server.logUrl("ours");
  await using raw = await openRaw(await server.database("raw"), 32);
  const [baseline, ours] = await interleave(
    [
      { name: "raw inserts", round: () => callsPerSecond(32, forMs, (at) => raw.insertOne(at)) },
      { name: "ours", round: () => writeTogether(url, processes, forMs) },
    ],
    rounds,
    context,
  );
  const note = `${processes} processes of ${callersEach} callers; raw inserts on 32 connections`;
  return rateResult(bar, ours, baseline, note);
}

async function writeTogether(url: string, processes: number, forMs: number): Promise<number> {
  const writers = Array.from({ length: processes }, () => startWriter(url, forMs));
  try {
    for (const writer of writers) await writer.next("ready");
    for (const writer of writers) writer.go();
    let commits = 0;
    for (const writer of writers) commits += Number(await writer.next("a count"));
    return commits / (forMs / 1000);
  } finally {
    for (const writer of writers) writer.stop();
  }
}

function startWriter(url: string, forMs: number) {
  const main = join(import.meta.dirname, "writer-main.ts");
  const parameters = [main, url, String(callersEach), String(forMs)];
  const child = spawn(process.execPath, parameters, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async next(wanted: string): Promise<string> {
      const line = await lines.next();
      if (line.done === true) throw new Error(`a writer ended before it printed ${wanted}`);
      return line.value;
    },
    go: () => child.stdin.write("\n"),
    stop: () => child.kill(),
  };
}
