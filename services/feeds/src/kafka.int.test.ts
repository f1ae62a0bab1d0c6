/** The whole service with Kafka: its database, its dispatcher and its client, against mock brokers. */
import { StopKind } from "@trainyard/contracts/events";
import type { Service } from "@trainyard/runtime";
import { DatabaseStage } from "@trainyard/runtime/database-stage";
import { freePort } from "@trainyard/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseConfig } from "./config.ts";
import { createService } from "./service.ts";
import { mockKafka, readTopic } from "./testing/kafka.ts";
import { startRefusingBroker } from "./testing/refusing-broker.ts";

let stage: DatabaseStage;
let service: Service | null;

beforeEach(async () => {
  stage = await DatabaseStage.start("feeds");
  service = null;
});

afterEach(async () => {
  await service?.[Symbol.asyncDispose]();
  await stage[Symbol.asyncDispose]();
});

async function restart(brokers: readonly string[]): Promise<void> {
  await service?.[Symbol.asyncDispose]();
  const variables = {
    ...stage.variables,
    TRAINYARD_FEEDS_KAFKA_BROKERS: brokers.join(","),
    TRAINYARD_FEEDS_KAFKA_TOPIC: "events",
  };
  service = await createService(parseConfig(variables), { bus: stage.hub.connect("feeds") });
  await service.start();
}

async function tell(experiment: number, count: number): Promise<number> {
  const events = Array.from({ length: count }, (_, at) => ({
    type: "ExperimentStopRequested" as const,
    data: { kind: StopKind.CANCEL, reason: String(at) },
  }));
  return await stage.tell(`experiment-${experiment}`, ...events);
}

async function progress(): Promise<{ position: number; last_error: string } | undefined> {
  const rows = "select position, last_error from feeds.progress where name = 'kafka:events'";
  const [row] = await stage.sql<{ position: number; last_error: string }>(rows, []);
  return row;
}

test("the service sends the whole log to Kafka from its first event, and continues after a restart", async ({
  skip,
}) => {
  await using kafka = await mockKafka(skip);
  await tell(1, 700);
  await restart(kafka.brokers);
  await expect.poll(async () => (await progress())?.position, { timeout: 15_000 }).toBe(700);
  await tell(2, 5);
  await expect.poll(async () => (await progress())?.position).toBe(705);
  await restart(kafka.brokers);
  const head = await tell(1, 5);
  await expect.poll(async () => (await progress())?.position).toBe(head);
  const received = await readTopic(kafka, "events");
  const sequences = received.map(({ headers }) => Number(headers["ce_sequence"]));
  expect(sequences.toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: head }, (_, n) => n + 1),
  );
  const first = received.filter(({ key }) => key === "experiment-1");
  expect(first.map(({ headers }) => Number(headers["ce_streamversion"]))).toEqual(
    Array.from({ length: 705 }, (_, n) => n + 1),
  );
});

test("while Kafka has no topic the service stays ready, keeps its place and says what to do", async () => {
  await using broker = await startRefusingBroker();
  await tell(1, 3);
  await restart([broker.address]);
  await expect
    .poll(async () => (await progress())?.last_error)
    .toBe('Kafka has no topic "events": create it, or correct TRAINYARD_FEEDS_KAFKA_TOPIC');
  expect((await progress())?.position).toBe(0);
  const page = {
    name: "",
    delivery: "",
    tokenId: "",
    owner: "",
    pageSize: 1,
    pageToken: "kafka:events",
  };
  expect(await stage.ask("feeds", "ListSubscriptions", page)).toMatchObject({ kind: "ok" });
});

test("events wait for a Kafka that is away, and its error is gone once they have arrived", async ({
  skip,
}) => {
  const nobody = `127.0.0.1:${await freePort()}`;
  await tell(1, 3);
  await restart([nobody]);
  await expect.poll(async () => (await progress())?.last_error).toContain(nobody);
  await using kafka = await mockKafka(skip);
  await restart([nobody, ...kafka.brokers]);
  await expect.poll(progress, { timeout: 15_000 }).toEqual({ position: 3, last_error: "" });
  expect(await readTopic(kafka, "events")).toHaveLength(3);
});
