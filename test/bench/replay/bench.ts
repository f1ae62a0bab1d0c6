/** Loading one stream, as a service does for each decision whose state is not cached. */
import type { EventLog } from "@trainyard/event-log";
import type pg from "pg";
import { fillLog } from "../support/append.ts";
import { type BenchContext, type BenchResult, rateResult } from "../support/bench.ts";
import { startBenchServer, withClient } from "../support/log-server.ts";
import { callsPerSecond, interleave } from "../support/measure.ts";
import { eventsPerStream, Streams } from "../support/payload.ts";

const oneByOne = { id: "rehydrate_32_vs_select", unit: "streams/s", floor: 0.6, goal: 0.8 };
const sixteen = { id: "rehydrate_32_16callers", unit: "streams/s", floor: null, goal: null };

export async function run(context: BenchContext): Promise<readonly BenchResult[]> {
  const events = { tiny: 4_096, short: 64_000, full: 1_000_000 }[context.size];
  const rounds = { tiny: 1, short: 7, full: 9 }[context.size];
  const forMs = { tiny: 20, short: 1_000, full: 5_000 }[context.size];
  await using server = await startBenchServer();
  await using log = await server.log("ours");
  context.say(`filling a log with ${events} events`);
  await fillLog(log, new Streams(), events, 4);
  return await withClient(await server.database("ours"), async (client) => {
    await client.query("analyze");
    const full = await client.query<{ stream: string }>(
      `select stream from log.events group by stream
        having max(version) = $1 order by md5(stream)`,
      [eventsPerStream],
    );
    const streams = full.rows.map(({ stream }) => stream);
    const next = cycle(streams);
    const ours = () => loadOurs(log, next());
    const bare = () => loadBare(client, next());
    const [selected, loaded] = await interleave(
      [
        { name: "bare select", round: () => callsPerSecond(1, forMs, bare) },
        { name: "ours", round: () => callsPerSecond(1, forMs, ours) },
      ],
      rounds,
      context,
    );
    const together = await callsPerSecond(16, forMs, ours);
    const note = "one caller; a prepared select of the same rows and one JSON.parse each";
    return [
      rateResult(oneByOne, loaded, selected, note),
      rateResult(sixteen, together, null, "16 callers"),
    ];
  });
}

function cycle(values: readonly string[]): () => string {
  if (values.length === 0) throw new Error("no values to load");
  let at = 0;
  return () => {
    at = (at + 1) % values.length;
    return values[at] ?? "";
  };
}

const check = (count: number): void => {
  if (count !== eventsPerStream) throw new Error(`${count} events were loaded`);
};

async function loadOurs(log: EventLog, stream: string): Promise<void> {
  const events = await log.read(stream, 0, 500);
  for (const event of events) JSON.parse(event.body);
  check(events.length);
}

async function loadBare(client: pg.Client, stream: string): Promise<void> {
  const { rows } = await client.query<{ body: string }>({
    name: "bare",
    text: "select position, version, type, body from log.events where stream = $1 order by version",
    values: [stream],
  });
  for (const row of rows) JSON.parse(row.body);
  check(rows.length);
}
