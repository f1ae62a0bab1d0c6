/** Repeated writes to the same streams while a transaction holds a snapshot, compared with writes without one. */
import pg from "pg";
import { appendOurs } from "../support/append.ts";
import { type BenchContext, type BenchResult, rateResult } from "../support/bench.ts";
import { startBenchServer } from "../support/log-server.ts";
import { callsPerSecond, interleave } from "../support/measure.ts";
import { Streams } from "../support/payload.ts";

const bar = { id: "append_hot_streams_under_snapshot", unit: "commits/s", floor: 0.7, goal: 0.9 };
const callers = 16;

export async function hotStreams(context: BenchContext): Promise<BenchResult> {
  const before = { tiny: 200, short: 30_000, full: 200_000 }[context.size];
  const rounds = { tiny: 1, short: 5, full: 9 }[context.size];
  const forMs = { tiny: 20, short: 1_500, full: 10_000 }[context.size];
  context.say(`${callers} hot streams, after ${before} commits under a snapshot`);
  await using server = await startBenchServer();
  // A snapshot only affects its own database, so both databases are on one server.
  await using free = await server.log("hot_free");
  await using held = await server.log("hot_held");
  const snapshot = new pg.Client({ connectionString: await server.database("hot_held") });
  await snapshot.connect();
  try {
    await snapshot.query("begin isolation level repeatable read");
    await snapshot.query("select count(*) from log.events");
    const streams = { free: new Streams(Infinity), held: new Streams(Infinity) };
    const write = async (which: "free" | "held", caller: number): Promise<void> =>
      void (await appendOurs(which === "free" ? free : held, streams[which], caller));
    for (const which of ["free", "held"] as const) {
      let left = before;
      await Promise.all(
        Array.from({ length: callers }, async (_, caller) => {
          while (left > 0) {
            left -= 1;
            await write(which, caller);
          }
        }),
      );
    }
    const [without, under] = await interleave(
      [
        {
          name: "no snapshot",
          round: () => callsPerSecond(callers, forMs, (at) => write("free", at)),
        },
        {
          name: "a snapshot",
          round: () => callsPerSecond(callers, forMs, (at) => write("held", at)),
        },
      ],
      rounds,
      context,
    );
    return rateResult(bar, under, without, `${callers} streams; the same without a snapshot`);
  } finally {
    await snapshot.end();
  }
}
