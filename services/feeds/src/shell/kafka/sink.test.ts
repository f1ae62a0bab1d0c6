import type { EventPlace, LeavingEvent } from "@trainyard/outbound";
import { expect, test } from "vitest";
import { feedsLimits } from "../../limits.ts";
import { leavingEvent } from "../../testing/leaving.ts";
import type { Page, Sink } from "../dispatch/sink.ts";
import type { KafkaMessage } from "./producer.ts";
import { kafkaSink } from "./sink.ts";

type Opened = {
  readonly sink: Sink;
  readonly batches: (readonly KafkaMessage[])[];
  readonly settled: EventPlace[];
  readonly failed: (string | null)[];
};

/** Opens the sink on a producer in memory whose call with this number fails. */
async function open(failsAt = Number.POSITIVE_INFINITY): Promise<Opened> {
  const batches: (readonly KafkaMessage[])[] = [];
  const settled: EventPlace[] = [];
  const failed: (string | null)[] = [];
  const sink = await kafkaSink(async () => ({
    async send(messages) {
      if (batches.length >= failsAt) throw new Error("the broker is away");
      batches.push(messages);
    },
    async [Symbol.asyncDispose]() {},
  }))({
    name: "kafka:events",
    from: { position: 0, event: "" },
    signal: new AbortController().signal,
    settled: (place) => settled.push(place),
    failed: (sentence) => failed.push(sentence),
  });
  return { sink, batches, settled, failed };
}

const placeOf = ({ stored }: LeavingEvent): EventPlace => ({
  position: stored.position,
  event: stored.id,
});

function pageOf(events: readonly LeavingEvent[]): Page {
  const last = events.at(-1);
  if (last === undefined) throw new Error("a page of the whole log has events");
  return { events, upTo: placeOf(last) };
}

test("a message of Kafka has its stream as the key, the attributes as headers and the body as the value", async () => {
  const { sink, batches } = await open();
  const event = leavingEvent(7, "experiment-3", { version: 2, text: "enough" });
  await sink.take(pageOf([event]));
  expect(batches).toEqual([
    [
      {
        key: "experiment-3",
        headers: {
          ce_specversion: "1.0",
          ce_id: event.stored.id,
          ce_source: "/trainyard/experiments",
          ce_type: event.stored.type,
          ce_subject: "experiment-3",
          ce_time: "2025-06-15T15:06:40.007Z",
          ce_sequence: "7",
          ce_epoch: "epoch-1",
          ce_streamversion: "2",
          ce_authid: "token:4f",
          "content-type": "application/json",
        },
        value: event.stored.body,
      },
    ],
  ]);
});

test("a message of Kafka for a large body has the body's address and the value null", async () => {
  const { sink, batches } = await open();
  await sink.take(pageOf([leavingEvent(7, "experiment-3", { text: "x".repeat(70_000) })]));
  const [message] = batches[0] ?? [];
  expect(message?.value).toBe("null");
  expect(message?.headers["ce_dataref"]).toBe("/api/v1/events/7");
});

test("a place is settled after the answer for Kafka, and a failed batch settles nothing", async () => {
  const events = Array.from({ length: 40 }, (_, at) =>
    leavingEvent(at + 1, "experiment-3", { text: "x".repeat(60_000) }),
  );
  const { sink, batches, settled, failed } = await open(2);
  await expect(sink.take(pageOf(events))).rejects.toThrow("the broker is away");
  const sent = batches.flat().length;
  expect(batches).toHaveLength(2);
  expect(settled.at(-1)).toEqual(placeOf(events[sent - 1] as LeavingEvent));
  expect(failed).toEqual([]);
});

test("a batch for Kafka is not larger than what brokers take, and has no event twice", async () => {
  const events = Array.from({ length: 60 }, (_, at) =>
    leavingEvent(at + 1, "experiment-3", { text: "é".repeat(1_000 * (at % 30)) }),
  );
  const { sink, batches, settled, failed } = await open();
  await sink.take(pageOf(events));
  for (const batch of batches) {
    const bytes = Buffer.byteLength(batch.map(({ value }) => value).join(""));
    expect(bytes).toBeLessThan(feedsLimits.kafkaBatchBytesMax);
  }
  expect(batches.length).toBeLessThan(4);
  const sent = batches.flat().map(({ headers }) => headers["ce_sequence"]);
  expect(sent).toEqual(events.map(({ stored }) => String(stored.position)));
  expect(settled.at(-1)).toEqual(placeOf(events.at(-1) as LeavingEvent));
  expect(failed).toEqual([null]);
});

test("a part of the log without events is settled without a request to Kafka", async () => {
  const { sink, batches, settled } = await open();
  const upTo = { position: 9, event: "e" };
  await sink.take({ events: [], upTo });
  expect([batches, settled]).toEqual([[], [upTo]]);
});
