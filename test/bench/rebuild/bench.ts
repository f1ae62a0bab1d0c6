/**
 * Reading the whole log again: a read model folded from its first event, compared with bare keyset pages of the same
 * rows; and whether appends slow down as the log grows.
 */
import { createMemoryBus } from "@trainyard/bus/testing";
import { decodeEvent } from "@trainyard/contracts";
import type { EventLog, StoredEvent } from "@trainyard/event-log";
import { systemClock } from "@trainyard/kernel/system-clock";
import { EventFeed } from "@trainyard/runtime";
import type pg from "pg";
import { appendOurs, fillLog } from "../support/append.ts";
import { type BenchContext, type BenchResult, rateResult } from "../support/bench.ts";
import { type BenchServer, startBenchServer, withClient } from "../support/log-server.ts";
import { callsPerSecond, interleave } from "../support/measure.ts";
import { Streams } from "../support/payload.ts";

const rebuild = { id: "rebuild_1m", unit: "events/s", floor: 0.5, goal: 0.75 };
const flat = { id: "flatness", unit: "commands/s", floor: 0.85, goal: 0.95 };
const eventsPerCommit = 4;
const pageEvents = 5_000;

export async function run(context: BenchContext): Promise<readonly BenchResult[]> {
  const large = { tiny: 2_000, short: 1_000_000, full: 5_000_000 }[context.size];
  const rounds = { tiny: 1, short: 3, full: 5 }[context.size];
  await using server = await startBenchServer();
  await using log = await server.log("large");
  context.say(`filling a log with ${large} events`);
  await fillLog(log, new Streams(), large, eventsPerCommit);
  return await withClient(await server.database("large"), async (client) => {
    // The vacuum and the writes after the filling must not affect a round.
    await client.query("vacuum analyze");
    await client.query("checkpoint");
    const head = await log.head();
    const [paged, folded] = await interleave(
      [
        { name: "keyset pages", round: () => perSecond(head, () => readPages(client)) },
        { name: "ours", round: () => perSecond(head, () => foldAll(log, head)) },
      ],
      rounds,
      context,
    );
    const note = `${head} events; pages of ${pageEvents} with one JSON.parse each`;
    return [rateResult(rebuild, folded, paged, note), await flatness(context, server, log)];
  });
}

async function perSecond(events: number, read: () => Promise<number>): Promise<number> {
  const start = performance.now();
  const count = await read();
  if (count < events) throw new Error(`${count} of ${events} events were read`);
  return count / ((performance.now() - start) / 1000);
}

async function readPages(client: pg.Client): Promise<number> {
  let after = "0";
  for (let count = 0; ; ) {
    const { rows } = await client.query<{ position: string; body: string }>({
      name: "page",
      text: `select position, stream, type, body from log.events where position > $1 order by position limit ${pageEvents}`,
      values: [after],
    });
    for (const row of rows) JSON.parse(row.body);
    count += rows.length;
    const last = rows.at(-1);
    if (last === undefined) return count;
    after = last.position;
  }
}

type Row = { run: number; step: number; best: number; reports: number };

/** Folds the latest step and the best value of every trial, decoded like in a service. */
function fold(model: Map<string, Row>, event: StoredEvent): void {
  const { type, data } = decodeEvent(event);
  if (type !== "ValidationReported") return;
  const loss = data.scalars["validation_loss"] ?? Number.POSITIVE_INFINITY;
  const row = model.get(data.trial);
  if (row === undefined) {
    model.set(data.trial, { run: data.run, step: data.step, best: loss, reports: 1 });
    return;
  }
  row.run = Math.max(row.run, data.run);
  row.step = Math.max(row.step, data.step);
  row.best = Math.min(row.best, loss);
  row.reports += 1;
}

async function foldAll(log: EventLog, head: number): Promise<number> {
  // The feed of every read model; this bus delivers no events, so it reads the log.
  await using feed = await EventFeed.open(log, createMemoryBus().connect("bench"), systemClock);
  const { signal } = new AbortController();
  const model = new Map<string, Row>();
  let position = 0;
  while (position < head) {
    const events = await feed.next(position, signal);
    for (const event of events) fold(model, event);
    position = events.at(-1)?.position ?? position;
  }
  let reports = 0;
  for (const row of model.values()) reports += row.reports;
  return reports;
}

/** Compares the same appends on a log of 10,000 events, refilled before each round, with those on the large log. */
async function flatness(
  context: BenchContext,
  server: BenchServer,
  large: EventLog,
): Promise<BenchResult> {
  const rounds = { tiny: 1, short: 9, full: 9 }[context.size];
  const forMs = { tiny: 20, short: 1_000, full: 5_000 }[context.size];
  const fewer = context.size === "tiny" ? 200 : 10_000;
  await using small = await server.log("small");
  const measure = (log: EventLog): Promise<number> => {
    const streams = new Streams();
    return callsPerSecond(64, forMs, async (at) => void (await appendOurs(log, streams, at)));
  };
  const [few, many] = await withClient(await server.database("small"), (client) =>
    interleave(
      [
        {
          name: "small log",
          round: async () => {
            await client.query("truncate log.commits, log.events, log.streams");
            await fillLog(small, new Streams(), fewer, eventsPerCommit);
            return await measure(small);
          },
        },
        { name: "large log", round: () => measure(large) },
      ],
      rounds,
      context,
    ),
  );
  const note = `64 callers; a log of ${fewer} events beside one of ${await large.head()}`;
  return rateResult(flat, many, few, note);
}
