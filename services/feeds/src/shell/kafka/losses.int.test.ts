/** The sink for Kafka and a consumer that lose their connection and memory at random points. */
import { drawInteger } from "@trainyard/kernel";
import type { EventPlace, LeavingEvent } from "@trainyard/outbound";
import type { MockKafka } from "@trainyard/testing";
import { pino } from "pino";
import { expect, test } from "vitest";
import { mockKafka, mockPartitions, readPartition, type Received } from "../../testing/kafka.ts";
import { leavingEvent } from "../../testing/leaving.ts";
import { kafkajsProducer } from "./kafkajs-producer.ts";
import { kafkaSink } from "./sink.ts";

const losses = 50;
const eventsInAll = 3_000;
const streams = 24;
const beginning: EventPlace = { position: 0, event: "" };

/** Draws whole numbers below a bound, the same ones for the same seed. */
function draws(seed: number, name: string): (below: number) => number {
  let n = 0;
  return (below) => {
    n += 1;
    return drawInteger(seed, name, n, below);
  };
}

/** Feeds the sink until all is settled. It loses its connection and what it did not store at 50 random points. */
async function feedWithLosses(
  kafka: MockKafka,
  events: readonly LeavingEvent[],
  below: (bound: number) => number,
): Promise<{ readonly repeats: number }> {
  const config = { brokers: kafka.brokers, topic: "events", sasl: null, tls: null };
  const open = kafkaSink(kafkajsProducer(config, pino({ enabled: false })));
  let stored = beginning;
  let handed = 0;
  for (let life = 0; stored.position < events.length; life += 1) {
    const stop = new AbortController();
    const places = [stored];
    const until = life < losses ? stored.position + 1 + below(100) : events.length;
    try {
      const settled = (place: EventPlace): void => void places.push(place);
      const context = { name: "kafka", from: stored, signal: stop.signal, settled, failed() {} };
      await using sink = await open(context);
      for (let at = stored.position; at < until; ) {
        const page = events.slice(at, at + 1 + below(40));
        const { position, id } = page.at(-1)?.stored ?? { position: at, id: "" };
        // The connection breaks while the page is on its way, or just after it.
        if (life < losses && position >= until) setTimeout(() => stop.abort(), below(4));
        handed += page.length;
        await sink.take({ events: page, upTo: { position, event: id } });
        at = position;
      }
    } catch (error) {
      if (!stop.signal.aborted) throw error;
    }
    // Places are stored a few times a second, so a crash may lose the latest of them.
    const kept = life < losses ? Math.max(0, places.length - 1 - below(3)) : places.length - 1;
    stored = places[kept] ?? stored;
  }
  return { repeats: handed - events.length };
}

/** The place of a consumer in a partition, and what it made of the messages, stored in one transaction. */
type Stored = { readonly offset: number; readonly last: number; readonly ids: readonly string[] };

/** Takes a message by the rule of docs/integrate/kafka.md. */
function taken({ last, ids }: Stored, { offset, headers }: Received): Stored {
  const sequence = Number(headers["ce_sequence"]);
  const next = offset + 1;
  if (sequence <= last) return { offset: next, last, ids };
  return { offset: next, last: sequence, ids: [...ids, headers["ce_id"] ?? ""] };
}

/** Reads a partition to its end; loses its connection and what it did not store at random points. */
async function consumeWithLosses(
  kafka: MockKafka,
  partition: number,
  below: (bound: number) => number,
): Promise<{ readonly ids: readonly string[]; readonly lost: number }> {
  let stored: Stored = { offset: 0, last: 0, ids: [] };
  let lost = 0;
  for (let isAtEnd = false; !isAtEnd; ) {
    let state = stored;
    const mayLose = lost < Math.ceil(losses / mockPartitions);
    let left = mayLose ? 1 + below(60) : Number.POSITIVE_INFINITY;
    isAtEnd = true;
    await readPartition(kafka, "events", partition, stored.offset, (message) => {
      state = taken(state, message);
      if (below(10) === 0) stored = state;
      left -= 1;
      isAtEnd = left > 0;
      return isAtEnd;
    });
    if (isAtEnd) stored = state;
    else lost += 1;
  }
  return { ids: stored.ids, lost };
}

test("a sink for Kafka and a consumer that lose everything at 50 random points lose and repeat no event", async ({
  skip,
}) => {
  await using kafka = await mockKafka(skip);
  const seed = Date.now();
  const draw = draws(seed, "events");
  const events = Array.from({ length: eventsInAll }, (_, at) =>
    leavingEvent(at + 1, `trial-${draw(streams)}`, { text: "x".repeat(draw(200)) }),
  );
  const { repeats } = await feedWithLosses(kafka, events, draws(seed, "sink"));
  expect(repeats, "the losses make the sink send events again").toBeGreaterThan(losses);
  const consumed = await Promise.all(
    Array.from({ length: mockPartitions }, (_, partition) =>
      consumeWithLosses(kafka, partition, draws(seed, `consumer ${partition}`)),
    ),
  );
  const lost = consumed.reduce((sum, one) => sum + one.lost, 0);
  expect(lost, `seed ${seed}`).toBeGreaterThanOrEqual(losses);
  const ids = consumed.flatMap((one) => one.ids);
  const known = new Map(events.map(({ stored }) => [stored.id, stored.stream]));
  expect(new Set(ids).size, `seed ${seed}`).toBe(eventsInAll);
  for (let stream = 0; stream < streams; stream += 1) {
    const name = `trial-${stream}`;
    const own = events.filter(({ stored }) => stored.stream === name).map((one) => one.stored.id);
    expect(
      ids.filter((id) => known.get(id) === name),
      `seed ${seed}`,
    ).toEqual(own);
  }
});
