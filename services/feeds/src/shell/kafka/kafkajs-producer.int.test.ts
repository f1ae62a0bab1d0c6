/** The client of Kafka against librdkafka's mock brokers, and against a server that refuses. */
import { Kafka as KafkaBinding } from "cloudevents";
import { pino } from "pino";
import { beforeEach, expect, test } from "vitest";
import { certificate, mockKafka, readTopic } from "../../testing/kafka.ts";
import { leavingEvent } from "../../testing/leaving.ts";
import { startRefusingBroker } from "../../testing/refusing-broker.ts";
import type { KafkaConfig } from "./config.ts";
import { kafkajsProducer } from "./kafkajs-producer.ts";
import { kafkaSink } from "./sink.ts";

const password = "correct horse battery staple";
const plain = { mechanism: "plain", username: "trainyard", password: { text: password } } as const;
const someBytes = [{ key: "a", headers: {}, value: "{}" }];

let lines: string[];
const logger = pino({ level: "debug" }, { write: (line: string) => void lines.push(line) });

beforeEach(() => {
  lines = [];
});

const settings = (brokers: readonly string[], rest: Partial<KafkaConfig> = {}): KafkaConfig => ({
  brokers,
  topic: "events",
  sasl: null,
  tls: null,
  ...rest,
});

/** Connects and sends once. */
async function attempt(config: KafkaConfig, signal = new AbortController().signal): Promise<void> {
  await using producer = await kafkajsProducer(config, logger)(signal);
  await producer.send(someBytes);
}

test("messages arrive at Kafka in the order of their keys, and npm's cloudevents reads them", async ({
  skip,
}) => {
  await using kafka = await mockKafka(skip);
  const events = Array.from({ length: 600 }, (_, at) =>
    leavingEvent(at + 1, `trial-${at % 7}`, { text: at === 11 ? "é".repeat(40_000) : "ok" }),
  );
  const open = kafkaSink(kafkajsProducer(settings(kafka.brokers), logger));
  await using sink = await open({
    name: "kafka:events",
    from: { position: 0, event: "" },
    signal: new AbortController().signal,
    settled: () => {},
    failed: () => {},
  });
  await sink.take({ events, upTo: { position: 600, event: "" } });
  const received = await readTopic(kafka, "events");
  for (let trial = 0; trial < 7; trial += 1) {
    const own = received.filter(({ key }) => key === `trial-${trial}`);
    expect(new Set(own.map(({ partition }) => partition)).size).toBe(1);
    expect(own.map(({ headers }) => headers["ce_id"])).toEqual(
      events.filter(({ stored }) => stored.stream === `trial-${trial}`).map((one) => one.stored.id),
    );
  }
  for (const { key, headers, payload } of received) {
    const message = { key, headers, value: payload, body: payload };
    const read = KafkaBinding.toEvent(message);
    const event = events[Number(headers["ce_sequence"]) - 1];
    expect(JSON.parse(JSON.stringify(read))).toEqual({
      data: null,
      ...event?.shown,
      partitionkey: key,
    });
  }
});

test("Kafka without a topic is one sentence, and no topic is created", async () => {
  await using broker = await startRefusingBroker();
  await expect(attempt(settings([broker.address]))).rejects.toThrow(
    'Kafka has no topic "events": create it, or correct TRAINYARD_FEEDS_KAFKA_TOPIC',
  );
  const createTopics = 19;
  expect(broker.requests).not.toContain(createTopics);
});

test("a login that Kafka refuses is one sentence, and no line of the log has the password", async () => {
  await using broker = await startRefusingBroker();
  await expect(attempt(settings([broker.address], { sasl: plain }))).rejects.toThrow(
    "Kafka refuses the login: correct TRAINYARD_FEEDS_KAFKA_SASL_MECHANISM",
  );
  expect(lines.join("")).toContain("authentication failed");
  expect(lines.join("")).not.toContain(password);
});

test("an expired certificate of a Kafka broker is one sentence, and no request is sent", async () => {
  using expired = certificate("2020-01-02");
  await using broker = await startRefusingBroker(expired);
  const tls = { caFile: expired.certFile, certFile: null, keyFile: null };
  await expect(attempt(settings([broker.address], { tls, sasl: plain }))).rejects.toThrow(
    `The certificate of the Kafka broker ${broker.address} has expired: renew it`,
  );
  expect(broker.requests).toEqual([]);
});

test("a certificate of an unknown authority is refused by Kafka's client, and one that the file names is taken", async () => {
  using valid = certificate("2049-01-02");
  await using broker = await startRefusingBroker(valid);
  const tls = { caFile: null, certFile: null, keyFile: null };
  await expect(attempt(settings([broker.address], { tls }))).rejects.toThrow(
    "is not signed by a known authority: name the right one by TRAINYARD_FEEDS_KAFKA_TLS_CA_FILE",
  );
  const named = { ...tls, caFile: valid.certFile };
  await expect(attempt(settings([broker.address], { tls: named }))).rejects.toThrow("has no topic");
});

test("brokers of Kafka that do not answer are named, after each was tried", async ({ skip }) => {
  const config = settings(["127.0.0.1:1", "127.0.0.1:2"]);
  await expect(attempt(config)).rejects.toThrow(/^Kafka at 127\.0\.0\.1:[12] failed, and is tried/);
  await using kafka = await mockKafka(skip);
  await attempt(settings(["127.0.0.1:1", ...kafka.brokers]));
});

test("a connection to Kafka that nobody answers ends at once when the service stops", async () => {
  const stop = new AbortController();
  await using broker = await startRefusingBroker();
  // Over TLS a server without TLS says nothing, so the handshake stays pending.
  const tls = { caFile: null, certFile: null, keyFile: null };
  const pending = attempt(settings([broker.address], { tls }), stop.signal);
  setImmediate(() => stop.abort());
  const began = performance.now();
  await expect(pending).rejects.toThrow("Kafka at");
  expect(performance.now() - began).toBeLessThan(2_000);
});
