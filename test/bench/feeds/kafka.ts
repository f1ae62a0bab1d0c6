/**
 * The service sends a whole log to Kafka: it reads PostgreSQL, masks, encodes and waits for each answer. The bare
 * producer of kafkajs sends the same messages, which it has in memory, in batches of the same bytes.
 */
import { createPostgresLog } from "@trainyard/event-log";
import { binaryModeOf, LeavingEvent } from "@trainyard/outbound";
import { DatabaseStage } from "@trainyard/runtime/database-stage";
import { createService } from "@trainyard/service-feeds";
import { parseConfig } from "@trainyard/service-feeds/config";
import { hasKcat, type MockKafka, startMockKafka } from "@trainyard/testing";
import { Kafka, logLevel, type Message, Partitioners } from "kafkajs";
import { fillLog } from "../support/append.ts";
import { type BenchContext, type BenchResult, rateResult } from "../support/bench.ts";
import { interleave } from "../support/measure.ts";
import { Streams } from "../support/payload.ts";

const bar = { id: "kafka_vs_kafkajs", unit: "events/s", floor: 0.4, goal: 0.7 };

export const ids = [bar.id];

/** The bytes of the service's batches. */
const batchBytes = 900_000;

export async function run(context: BenchContext): Promise<readonly BenchResult[]> {
  if (!hasKcat()) {
    context.say("kafka_vs_kafkajs needs Debian's kcat, whose library has mock brokers");
    return [];
  }
  const events = { tiny: 2_000, short: 100_000, full: 400_000 }[context.size];
  const rounds = { tiny: 1, short: 5, full: 7 }[context.size];
  await using stage = await DatabaseStage.start("feeds", {});
  await using kafka = await startMockKafka();
  context.say(`filling a log with ${events} events`);
  const log = createPostgresLog({ connectionString: stage.url("ty_others") });
  await using _log = log;
  await fillLog(log, new Streams(), events, 100);
  const batches = await batchesOf(log, events);
  let topics = 0;
  const topic = (): string => `events-${(topics += 1)}`;
  const [bare, ours] = await interleave(
    [
      { name: "bare kafkajs", round: () => sendBare(kafka, topic(), batches) },
      { name: "ours", round: () => sendOurs(stage, kafka, topic(), events) },
    ],
    rounds,
    context,
  );
  const note = `the whole log; mock brokers; batches of ${batches[0]?.length ?? 0} messages`;
  return [rateResult(bar, ours, bare, note)];
}

/** Starts the service with a topic that is new to it, and waits until the brokers have the log's last event. */
async function sendOurs(
  stage: DatabaseStage,
  { brokers }: MockKafka,
  topic: string,
  events: number,
): Promise<number> {
  const service = await createService(
    parseConfig({
      ...stage.variables,
      TRAINYARD_FEEDS_KAFKA_BROKERS: brokers.join(","),
      TRAINYARD_FEEDS_KAFKA_TOPIC: topic,
    }),
    { bus: stage.hub.connect("feeds") },
  );
  await using _service = service;
  await service.start();
  const position = async (): Promise<number> => {
    const text = "select position from feeds.progress where name = $1";
    const [row] = await stage.sql<{ position: number }>(text, [`kafka:${topic}`]);
    return row?.position ?? 0;
  };
  const until = async (least: number): Promise<number> => {
    for (;;) {
      const now = await position();
      if (now >= least) return now;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  // The first events wait for the service's lease, which is not measured.
  const before = await until(1);
  const start = performance.now();
  await until(events);
  return (events - before) / ((performance.now() - start) / 1_000);
}

async function sendBare(
  { brokers }: MockKafka,
  topic: string,
  batches: readonly Message[][],
): Promise<number> {
  const producer = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).producer({
    createPartitioner: Partitioners.DefaultPartitioner,
    maxInFlightRequests: 1,
  });
  await producer.connect();
  try {
    await producer.send({ topic, acks: -1, messages: batches[0] ?? [] });
    const start = performance.now();
    for (const messages of batches) await producer.send({ topic, acks: -1, messages });
    return batches.flat().length / ((performance.now() - start) / 1_000);
  } finally {
    await producer.disconnect();
  }
}

async function batchesOf(
  log: ReturnType<typeof createPostgresLog>,
  events: number,
): Promise<readonly Message[][]> {
  const batches: Message[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (let position = 0; position < events; ) {
    const page = await log.readAll(position, 500);
    for (const stored of page) {
      const { headers, body } = binaryModeOf(new LeavingEvent(stored, "1"), "ce_");
      bytes += body.length + headers.join("").length + stored.stream.length;
      if (bytes > batchBytes) {
        batches.push([]);
        bytes = 0;
      }
      const message = { key: stored.stream, headers: Object.fromEntries(headers), value: body };
      batches.at(-1)?.push(message);
      position = stored.position;
    }
  }
  return batches;
}
