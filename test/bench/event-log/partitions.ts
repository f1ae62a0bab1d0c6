/** Reads one stream in a log of a hundred partitions, compared with a log of one partition. */
import type { EventLog } from "@trainyard/event-log";
import { fillLog } from "../support/append.ts";
import { type BenchContext, type BenchResult, rateResult } from "../support/bench.ts";
import { type BenchServer, startBenchServer, withClient } from "../support/log-server.ts";
import { callsPerSecond, interleave } from "../support/measure.ts";
import { eventsPerStream, Streams } from "../support/payload.ts";

const bar = { id: "stream_read_100_partitions", unit: "streams/s", floor: 0.6, goal: 0.8 };
const partitions = 100;

export async function manyPartitions(context: BenchContext): Promise<BenchResult> {
  const events = { tiny: 3_200, short: 100_000, full: 1_000_000 }[context.size];
  const rounds = { tiny: 1, short: 7, full: 9 }[context.size];
  const forMs = { tiny: 20, short: 1_000, full: 5_000 }[context.size];
  context.say(`${events} events in one partition, and in ${partitions}`);
  await using server = await startBenchServer();
  await server.log("divided").then((log) => log[Symbol.asyncDispose]());
  await divide(await server.database("divided"), Math.ceil(events / partitions));
  await using single = await server.log("single");
  await using divided = await server.log("divided");
  // Each stream is one commit, so that the stream is in one partition, like most streams of a long log.
  await fillLog(single, new Streams(), events, eventsPerStream);
  await fillLog(divided, new Streams(), events, eventsPerStream);
  const readSingle = await readerOf(server, single, "single");
  const readDivided = await readerOf(server, divided, "divided");
  const [one, hundred] = await interleave(
    [
      { name: "one partition", round: () => callsPerSecond(1, forMs, readSingle) },
      { name: "a hundred", round: () => callsPerSecond(1, forMs, readDivided) },
    ],
    rounds,
    context,
  );
  return rateResult(bar, hundred, one, "one caller; the same in a log of one partition");
}

/** Reduces the number of positions per partition of an empty log. */
async function divide(url: string, size: number): Promise<void> {
  await withClient(url, async (client) => {
    await client.query("set role ty_migrator");
    await client.query("drop table log.events_p000000, log.events_p000001");
    await client.query(`create or replace function log.partition_size() returns bigint
      language sql immutable parallel safe as $$ select ${size}::bigint $$`);
    for (let partition = 0; partition < partitions; partition += 1) {
      await client.query("select log.ensure_partitions($1)", [partition * size]);
    }
  });
}

async function readerOf(server: BenchServer, log: EventLog, name: string) {
  const streams = await withClient(await server.database(name), async (client) => {
    await client.query("analyze");
    const { rows } = await client.query<{ stream: string }>(
      "select stream from log.streams order by md5(stream)",
    );
    return rows.map(({ stream }) => stream);
  });
  let at = 0;
  return async (): Promise<void> => {
    at = (at + 1) % streams.length;
    const events = await log.read(streams[at] ?? "", 0, 500);
    if (events.length !== eventsPerStream) {
      throw new Error(`${events.length} events were read instead of ${eventsPerStream}`);
    }
  };
}
