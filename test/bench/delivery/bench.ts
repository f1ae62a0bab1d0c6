/**
 * Measures the way from a command's append to a consumer of the bus, compared with publishing to JetStream directly.
 */
import { appendOurs } from "../support/append.ts";
import { type BenchContext, type BenchResult, costResult, rateResult } from "../support/bench.ts";
import { interleave, median, pacedLatencies, percentile } from "../support/measure.ts";
import { openSpanSink } from "../support/span-sink.ts";
import { Streams } from "../support/payload.ts";
import { openRaw, type RawTable } from "../event-log/raw.ts";
import { type Chain, openChain } from "./chain.ts";
import { baselineInFlight, openRawJetStream, type RawJetStream } from "./raw-jetstream.ts";

const saturatedBar = { id: "chain_saturated", unit: "events/s", floor: 0.4, goal: 0.6 };
const commandsBar = { id: "chain_single_commands", unit: "events/s", floor: null, goal: null };
const tracedBar = { id: "chain_traced", unit: "events/s", floor: null, goal: null };
const p50Bar = { id: "latency_2000_vs_direct", unit: "ms", floor: 0.2, goal: 0.33 };
const p99Bar = { id: "latency_2000_p99", unit: "ms", floor: null, goal: null };
/** Commits of 100 events fill the log faster than the rest of the chain delivers, so the rest limits the rate. */
const bulk = { writers: 8, eventsPerCommit: 100 };
/** Commits of one event: the log itself limits the rate. */
const commands = { writers: 128, eventsPerCommit: 1 };
const pacePerSecond = 2_000;

export async function run(context: BenchContext): Promise<readonly BenchResult[]> {
  await using chain = await openChain();
  await using jetstream = await openRawJetStream(chain.natsUrl);
  await using raw = await openRaw(await chain.server.database("raw"), 32);
  return [
    ...(await saturated(context, chain, jetstream)),
    ...(await latency(context, chain, raw, jetstream)),
    ...(context.wants(tracedBar.id) ? await traced(context, chain) : []),
  ];
}

/** The same chain with and without tracing, in turns. The events name a trace that is sent. */
async function traced(context: BenchContext, chain: Chain): Promise<readonly BenchResult[]> {
  const rounds = { tiny: 1, short: 5, full: 9 }[context.size];
  const count = { tiny: 800, short: 40_000, full: 200_000 }[context.size];
  await using sink = await openSpanSink();
  await using tracedChain = await openChain(sink.url);
  context.say("with tracing");
  const [off, on] = await interleave(
    [
      { name: "without tracing", round: () => chainPerSecond(chain, count, bulk) },
      { name: "with tracing", round: () => chainPerSecond(tracedChain, count, bulk) },
    ],
    rounds,
    context,
  );
  const sent = `${Math.round(sink.bytes() / 1_000)} kB of spans sent`;
  return [rateResult(tracedBar, on, off, `8 writers of 100 events a commit; ${sent}`)];
}

async function saturated(
  context: BenchContext,
  chain: Chain,
  jetstream: RawJetStream,
): Promise<readonly BenchResult[]> {
  const rounds = { tiny: 1, short: 5, full: 9 }[context.size];
  const count = { tiny: 800, short: 40_000, full: 200_000 }[context.size];
  context.say("as fast as possible");
  const [direct, inBulk, oneByOne] = await interleave(
    [
      { name: "JetStream publish", round: () => jetstream.publishPerSecond(count) },
      { name: "ours, 100 events a commit", round: () => chainPerSecond(chain, count, bulk) },
      { name: "ours, one event a commit", round: () => chainPerSecond(chain, count, commands) },
    ],
    rounds,
    context,
  );
  const baseline = `publish with acknowledgement, ${baselineInFlight} in flight`;
  return [
    rateResult(saturatedBar, inBulk, direct, `8 writers of 100 events a commit; ${baseline}`),
    rateResult(commandsBar, oneByOne, direct, "128 callers of one-event commands; the same"),
  ];
}

async function chainPerSecond(chain: Chain, count: number, load: typeof bulk): Promise<number> {
  const streams = new Streams();
  const start = performance.now();
  let written = 0;
  let last = 0;
  const arrivals = new Arrivals(chain);
  const write = async (caller: number): Promise<void> => {
    while (written < count) {
      written += load.eventsPerCommit;
      last = Math.max(last, await appendOurs(chain.log, streams, caller, load.eventsPerCommit));
    }
  };
  await Promise.all(Array.from({ length: load.writers }, (_, caller) => write(caller)));
  await arrivals.reached(last);
  return count / ((performance.now() - start) / 1000);
}

async function latency(
  context: BenchContext,
  chain: Chain,
  raw: RawTable,
  jetstream: RawJetStream,
): Promise<readonly BenchResult[]> {
  const rounds = { tiny: 1, short: 5, full: 9 }[context.size];
  const count = { tiny: 200, short: 6_000, full: 60_000 }[context.size];
  context.say(`${pacePerSecond} a second`);
  const tails: { readonly direct: number[]; readonly ours: number[] } = { direct: [], ours: [] };
  const [direct, ours] = await interleave(
    [
      {
        name: "insert, then publish",
        round: async () => {
          const taken = await pacedLatencies(pacePerSecond, count, async (index) => {
            await raw.insertOne(index % commands.writers);
            await jetstream.publishOneMs();
          });
          tails.direct.push(percentile(taken, 0.99));
          return percentile(taken, 0.5);
        },
      },
      {
        name: "ours",
        round: async () => {
          const taken = await chainLatencies(chain, count);
          tails.ours.push(percentile(taken, 0.99));
          return percentile(taken, 0.5);
        },
      },
    ],
    rounds,
    context,
  );
  const note = "command to consumer; a bare insert, then a publish until acknowledged";
  return [
    costResult(p50Bar, ours, direct, note),
    costResult(p99Bar, median(tails.ours), median(tails.direct), "the same rounds"),
  ];
}

async function chainLatencies(chain: Chain, count: number): Promise<readonly number[]> {
  const streams = new Streams();
  const arrivals = new Arrivals(chain);
  let caller = 0;
  return await pacedLatencies(pacePerSecond, count, async () => {
    caller += 1;
    // Each command has a stream of its own, because earlier commands may not have been delivered yet.
    await arrivals.reached(await appendOurs(chain.log, streams, caller));
  });
}

/**
 * The events that the consumer has received. They arrive in position order, so a later event implies the earlier ones.
 */
class Arrivals {
  #position = 0;
  readonly #waiting = new Map<number, () => void>();
  #oldest = 0;

  constructor(chain: Chain) {
    chain.onEvent = (position) => this.#advance(position);
  }

  #advance(position: number): void {
    if (this.#oldest === 0) this.#oldest = position;
    this.#position = position;
    for (; this.#oldest <= position; this.#oldest += 1) {
      this.#waiting.get(this.#oldest)?.();
      this.#waiting.delete(this.#oldest);
    }
  }

  async reached(position: number): Promise<void> {
    if (position <= this.#position) return;
    await new Promise<void>((resolve) => this.#waiting.set(position, resolve));
  }
}
