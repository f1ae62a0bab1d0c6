/** Readers of the stream of events over a real gateway, relay and NATS: latency, and the cost of each delivery. */
import { startNats } from "@trainyard/bus/testing";
import { createPostgresLog, type EventLog } from "@trainyard/event-log";
import { startTestPostgres } from "@trainyard/testing";
import { type BenchContext, type BenchResult, costResult, rateResult } from "../support/bench.ts";
import { createGatewayDatabase, openGateway, type OpenGateway } from "../support/gateway.ts";
import { interleave, pacedLatencies, percentile } from "../support/measure.ts";
import { startRelay } from "../support/relay.ts";
import { appendNew } from "../gateway/experiments.ts";
import { subscribe, type Subscriber } from "./subscriber.ts";

const latencyBar = { id: "feeds_p99_ms", unit: "ms", floor: null, goal: 1 };
const costBar = {
  id: "cost_per_delivery_flatness",
  unit: "deliveries/s",
  floor: null,
  goal: 0.8,
};

export const ids = [latencyBar.id, costBar.id];

const aimMs = 250;
const eventsPerSecond = 100;
const warmUpEvents = 200;
const database = "bench";

type Stage = {
  readonly gateway: OpenGateway;
  readonly log: EventLog;
  /** The next experiment. */
  readonly ids: { next: number };
};

export async function run(context: BenchContext): Promise<readonly BenchResult[]> {
  const [few, many] = context.size === "tiny" ? [1, 4] : [10, 100];
  await using stack = new AsyncDisposableStack();
  const postgres = stack.use(await startTestPostgres({ fsync: true }));
  const nats = stack.use(await startNats());
  await createGatewayDatabase(postgres, database);
  const connectionString = postgres.url({ database });
  const log = stack.use(createPostgresLog({ connectionString }));
  startRelay(stack, postgres.url({ user: "ty_relay", database }), nats);
  const gateway = await openGateway(stack, postgres, database, { natsUrl: nats.url });
  const stage = { gateway, log, ids: { next: 0 } };
  return [
    ...(context.wants(latencyBar.id) ? [await latency(context, stage, many)] : []),
    ...(context.wants(costBar.id) ? [await cost(context, stage, few, many)] : []),
  ];
}

/** Opens readers from the end of the log; each second one has a filter, which selects every second event. */
async function subscribers(
  stack: DisposableStack,
  { gateway, log }: Stage,
  count: number,
  onEvent?: (text: string) => void,
): Promise<readonly Subscriber[]> {
  const after = String(await log.head());
  const opening = Array.from({ length: count }, (_, index) => {
    const filter = { types: "ValidationReported", where: `run=${index % 4 === 1 ? 1 : 2}` };
    return subscribe(gateway, { after, ...(index % 2 === 0 ? {} : filter) }, onEvent);
  });
  return (await Promise.all(opening)).map((subscriber) => stack.use(subscriber));
}

/** Appends the event in a stream of its own. */
async function append({ log, ids }: Stage, index: number): Promise<void> {
  ids.next += 1;
  const trial = `${ids.next}.1`;
  const event = {
    type: "ValidationReported",
    data: { ...measured, trial, run: (index % 2) + 1, step: index, reportKey: `0-${index}` },
  } as const;
  await appendNew(log, [{ stream: `measurement-${trial}`, events: [event] }]);
}

const measured = {
  scalars: { validation_loss: 0.25, validation_accuracy: 0.9171, learning_rate: 0.0003 },
  nonNumeric: [],
};

/** Waits until all readers have what they select of an even number of events. */
async function settled(readers: readonly Subscriber[], events: number): Promise<void> {
  const wanted = (index: number): number => (index % 2 === 0 ? events : events / 2);
  while (readers.some(({ arrived }, index) => arrived < wanted(index))) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function latency(context: BenchContext, stage: Stage, count: number): Promise<BenchResult> {
  const events = { tiny: 50, short: 3_000, full: 12_000 }[context.size];
  using stack = new DisposableStack();
  const times: number[] = [];
  const begun: number[] = [];
  const onEvent = (text: string): void => {
    const index = Number(/"reportKey":"0-([0-9]+)"/.exec(text)?.[1]);
    times.push(performance.now() - (begun[index] ?? Number.NaN));
  };
  const readers = await subscribers(stack, stage, count, onEvent);
  // The first reader begins to follow the log.
  await pacedLatencies(eventsPerSecond, warmUpEvents, (index) => append(stage, index));
  await settled(readers, warmUpEvents);
  times.length = 0;
  await pacedLatencies(eventsPerSecond, events, async (index) => {
    begun[index] = performance.now();
    await append(stage, index);
  });
  await settled(readers, warmUpEvents + events);
  const p50 = percentile(times, 0.5).toFixed(1);
  const note = `append to arrival, ${count} readers, half with filters, ${eventsPerSecond} events/s; p50 ${p50} ms; baseline is the aim`;
  return costResult(latencyBar, percentile(times, 0.99), aimMs, note);
}

async function cost(
  context: BenchContext,
  stage: Stage,
  few: number,
  many: number,
): Promise<BenchResult> {
  const events = { tiny: 20, short: 1_000, full: 3_000 }[context.size];
  const rounds = { tiny: 1, short: 3, full: 9 }[context.size];
  const measure = (count: number) => () => deliveriesPerSecond(stage, count, events);
  const [ofFew, ofMany] = await interleave(
    [
      { name: `${few} readers`, round: measure(few) },
      { name: `${many} readers`, round: measure(many) },
    ],
    rounds,
    context,
  );
  const note = `deliveries for a second of processor time (gateway, appends and bare readers), ${many} readers beside ${few}, half with filters, ${eventsPerSecond} events/s`;
  return rateResult(costBar, ofMany, ofFew, note);
}

async function deliveriesPerSecond(stage: Stage, count: number, events: number): Promise<number> {
  using stack = new DisposableStack();
  const readers = await subscribers(stack, stage, count);
  const before = process.cpuUsage();
  await pacedLatencies(eventsPerSecond, events, (index) => append(stage, index));
  await settled(readers, events);
  const { user, system } = process.cpuUsage(before);
  const deliveries = readers.reduce((sum, { arrived }) => sum + arrived, 0);
  return deliveries / ((user + system) / 1e6);
}
