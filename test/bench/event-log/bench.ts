/**
 * The cost of a durable, ordered, fenced log, compared with plain inserts of the same rows and with a known event
 * store.
 */
import { appendOurs } from "../support/append.ts";
import { type BenchContext, type BenchResult, rateResult } from "../support/bench.ts";
import { startBenchServer } from "../support/log-server.ts";
import { callsPerSecond, interleave } from "../support/measure.ts";
import { Streams } from "../support/payload.ts";
import { openEmmett } from "./emmett.ts";
import { hotStreams } from "./hot-streams.ts";
import { manyPartitions } from "./partitions.ts";
import { openRaw } from "./raw.ts";
import { tenProcesses } from "./ten-processes.ts";

const single = { id: "command_64callers_vs_raw", unit: "commands/s", floor: 0.8, goal: 1.4 };
const emmett = { id: "command_vs_emmett", unit: "commands/s", floor: 3, goal: 5 };
const bulk = { id: "append_batch100_w8", unit: "events/s", floor: 0.5, goal: 0.7 };

export async function run(context: BenchContext): Promise<readonly BenchResult[]> {
  return [
    ...(await onOneServer(context)),
    await tenProcesses(context),
    await hotStreams(context),
    await manyPartitions(context),
  ];
}

async function onOneServer(context: BenchContext): Promise<readonly BenchResult[]> {
  const rounds = { tiny: 1, short: 5, full: 9 }[context.size];
  const forMs = { tiny: 20, short: 1_500, full: 10_000 }[context.size];
  await using server = await startBenchServer();
  await using raw = await openRaw(await server.database("raw"), 32);
  await using rawBulk = await openRaw(await server.database("raw_bulk"), 8);
  await using store = await openEmmett(await server.database("emmett"), 32);
  await using log = await server.log("ours");
  await using bulkLog = await server.log("ours_bulk");
  const streams = new Streams();
  const bulkStreams = new Streams();
  const one = async (caller: number): Promise<void> =>
    void (await appendOurs(log, streams, caller));
  context.say("single commands");
  const [rawSingle, ours, emmettSingle] = await interleave(
    [
      { name: "raw inserts", round: () => callsPerSecond(32, forMs, (at) => raw.insertOne(at)) },
      { name: "ours", round: () => callsPerSecond(64, forMs, one) },
      { name: "emmett", round: () => callsPerSecond(32, forMs, (at) => store.appendOne(at)) },
    ],
    rounds,
    context,
  );
  context.say("100 events a commit");
  const hundred = async (caller: number): Promise<void> =>
    void (await appendOurs(bulkLog, bulkStreams, caller, 100));
  const insertHundred = (caller: number): Promise<void> => rawBulk.insertMany(caller, 100);
  const [rawHundreds, hundreds] = await interleave(
    [
      { name: "raw unnest", round: () => callsPerSecond(8, forMs, insertHundred) },
      { name: "ours", round: () => callsPerSecond(8, forMs, hundred) },
    ],
    rounds,
    context,
  );
  return [
    rateResult(single, ours, rawSingle, "64 callers; raw single-row inserts on 32 connections"),
    rateResult(emmett, ours, emmettSingle, "64 callers; Emmett's appendToStream, 32 in flight"),
    rateResult(bulk, hundreds * 100, rawHundreds * 100, "8 writers; raw unnest on 8 connections"),
  ];
}
