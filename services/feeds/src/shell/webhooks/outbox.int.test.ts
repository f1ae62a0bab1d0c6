import type { LeavingEvent } from "@trainyard/outbound";
import { noTracer, type Tracer } from "@trainyard/runtime";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { feedsLimits } from "../../limits.ts";
import { answers, never } from "../../testing/played-receivers.ts";
import { pageOf, TestWebhooks } from "../../testing/test-webhooks.ts";

const hour = 3_600_000;

let world: TestWebhooks;
let name = "";
let number = 0;

/** The spans that have ended: their parents, and what went wrong. */
const spans: { readonly parent: string; readonly error: unknown }[] = [];
const tracer: Tracer = {
  ...noTracer,
  under: (name, parent) => {
    expect(name).toBe("deliver");
    return { traceparent: "", end: ({ error } = {}) => void spans.push({ parent, error }) };
  },
};

beforeAll(async () => {
  world = await TestWebhooks.open({ waitingMax: 5, tracer });
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => {
  number += 1;
  name = `hook-${number}`;
});

type Row = { readonly state: string; readonly failures: number; readonly at_ms: number };
const rows = (): Promise<Row[]> =>
  world.stage.sql<Row>(
    "select state, failures, at_ms from feeds.deliveries where webhook = $1 order by position",
    [name],
  );
const idsOf = (events: readonly LeavingEvent[]) => events.map(({ stored }) => stored.id);
const areAll = async (state: string): Promise<boolean> => {
  const found = await rows();
  return found.length > 0 && found.every((row) => row.state === state);
};
const attempted = async (): Promise<readonly number[]> => {
  const text = "select at_ms from feeds.attempts where webhook = $1 order by at_ms";
  return (await world.stage.sql<{ at_ms: number }>(text, [name])).map((row) => row.at_ms);
};
const subscriptionEvents = async () => (await world.stage.events(`subscription-${name}`)).slice(1);

test("each event is sent once, and is settled when it is a row", async () => {
  const url = await world.create(name);
  const { sink, places, failures, stop } = await world.sinkOf(name);
  const events = await world.events(3);
  await sink.take(pageOf(events));
  await sink.take(pageOf(events));
  expect(places.at(-1)).toEqual(pageOf(events).upTo);
  await world.until(() => areAll("DELIVERED"));
  expect(world.receivers.idsAt(url).toSorted()).toEqual(idsOf(events).toSorted());
  await world.until(() => failures.length === 3);
  expect(failures).toEqual([null, null, null]);
  await stop();
});

test("an attempt is a span under the append of its event, with the status of a refusal", async () => {
  const url = await world.create(name);
  world.receivers.plays(url, answers(500));
  const { sink, stop } = await world.sinkOf(name);
  spans.length = 0;
  const events = await world.events(1);
  await sink.take(pageOf(events));
  await world.until(async () => (await attempted()).length === 1);
  expect(spans).toEqual([{ parent: events[0]?.stored.meta.traceparent, error: 500 }]);
  world.receivers.plays(url, answers(204));
  await world.until(() => areAll("DELIVERED"), 60_000);
  expect(spans.at(-1)?.error).toBeUndefined();
  await stop();
});

test("a refused event is sent again alone, over three days, and then fails", async () => {
  const url = await world.create(name);
  world.receivers.plays(url, answers(500));
  const { sink, failures, stop } = await world.sinkOf(name);
  await sink.take(pageOf(await world.events(1)));
  const { webhookWaitsMs } = feedsLimits;
  for (const [i, waitMs] of webhookWaitsMs.entries()) {
    await world.until(async () => (await attempted()).length === i + 1);
    const nextMs = (await rows())[0]?.at_ms ?? 0;
    expect(nextMs - world.clock.nowMs()).toBe(waitMs);
    await world.clock.advance(waitMs - 1);
    expect(await attempted()).toHaveLength(i + 1);
    await world.clock.advance(1);
  }
  await world.until(() => areAll("FAILED"));
  expect(new Set(world.receivers.idsAt(url)).size).toBe(1);
  await world.until(() => failures.length === 10);
  expect(failures).toEqual(Array(10).fill("the receiver answered 500"));
  await stop();
}, 30_000);

test("a refused event delays no later one", async () => {
  const url = await world.create(name);
  const [first, ...later] = await world.events(4);
  world.receivers.plays(url, ({ headers }) => ({
    status: headers["webhook-id"] === first?.stored.id ? 503 : 200,
  }));
  const { sink, stop } = await world.sinkOf(name);
  await sink.take(pageOf(first === undefined ? later : [first, ...later]));
  const states = async () => (await rows()).map(({ state }) => state);
  await world.until(async () => (await states()).slice(1).every((state) => state === "DELIVERED"));
  expect(await states()).toEqual(["WAITING", "DELIVERED", "DELIVERED", "DELIVERED"]);
  await stop();
});

test("a receiver that asks for a wait gets the event after it", async () => {
  const url = await world.create(name);
  let asked = 0;
  world.receivers.plays(url, () => {
    asked += 1;
    return asked === 1 ? { status: 429, retryAfterMs: 20 * 60_000 } : { status: 200 };
  });
  const { sink, stop } = await world.sinkOf(name);
  await sink.take(pageOf(await world.events(1)));
  await world.until(() => areAll("DELIVERED"), 60_000);
  const [first = 0, second = 0] = await attempted();
  expect(second - first).toBeGreaterThanOrEqual(20 * 60_000);
  expect(second - first).toBeLessThan(23 * 60_000);
  await stop();
});

test("a receiver that never answers gets four requests at a time, and delays no other webhook", async () => {
  const url = await world.create(name);
  world.receivers.plays(url, never);
  const slow = await world.sinkOf(name);
  const other = `${name}-healthy`;
  const otherUrl = await world.create(other);
  const healthy = await world.sinkOf(other);
  const events = await world.events(5);
  await slow.sink.take(pageOf(events));
  await world.until(() => world.receivers.idsAt(url).length === 4);
  await healthy.sink.take(pageOf(events));
  await world.until(() => world.receivers.idsAt(otherUrl).length === 5);
  expect(world.receivers.most.get(url)).toBe(4);
  expect(world.receivers.idsAt(url)).toHaveLength(4);
  await slow.stop();
  await healthy.stop();
});

test("an event that was sent by a process that then died is sent again with the same id", async () => {
  const url = await world.create(name);
  world.receivers.plays(url, never);
  const dead = await world.sinkOf(name);
  const [event] = await world.events(1);
  await dead.sink.take(pageOf(event === undefined ? [] : [event]));
  await world.until(() => world.receivers.idsAt(url).length === 1);
  await dead.stop();
  expect(await rows()).toMatchObject([{ state: "WAITING", failures: 0 }]);
  world.receivers.plays(url, answers(200));
  const next = await world.sinkOf(name);
  await world.until(() => areAll("DELIVERED"));
  expect(world.receivers.idsAt(url)).toEqual([event?.stored.id, event?.stored.id]);
  await next.stop();
});

test("an answer is recorded after the table of deliveries was away", async () => {
  const url = await world.create(name);
  const { sink, stop } = await world.sinkOf(name);
  world.receivers.plays(url, async () => {
    await world.stage.sql("alter table feeds.attempts rename to lost");
    return { status: 200 };
  });
  await sink.take(pageOf(await world.events(1)));
  await world.until(() => world.receivers.idsAt(url).length === 1);
  await world.until(async () => (await rows())[0]?.state === "WAITING");
  await world.stage.sql("alter table feeds.lost rename to attempts");
  await world.until(() => areAll("DELIVERED"), 1_000);
  expect(world.receivers.idsAt(url)).toHaveLength(1);
  await stop();
});

test("the position waits while too many deliveries wait", async () => {
  const url = await world.create(name);
  world.receivers.plays(url, answers(500));
  const { sink, places, stop } = await world.sinkOf(name);
  const events = await world.events(8);
  const taken = sink.take(pageOf(events));
  const fifth = events[4]?.stored;
  await world.until(() => places.length > 0);
  await world.until(async () => (await attempted()).length === 5);
  expect(places.at(-1)).toEqual({ position: fifth?.position, event: fifth?.id });
  expect(await rows()).toHaveLength(5);
  world.receivers.plays(url, answers(200));
  await world.until(() => places.at(-1)?.event === events.at(-1)?.stored.id, 1_000);
  await taken;
  await world.until(() => areAll("DELIVERED"), 1_000);
  await stop();
});

test("a webhook that answers 410 is disabled, and an event says so", async () => {
  const url = await world.create(name);
  world.receivers.plays(url, answers(410));
  const { sink, stop } = await world.sinkOf(name);
  await sink.take(pageOf(await world.events(1)));
  await world.until(async () => (await subscriptionEvents()).length > 0);
  const reason = "the receiver answered 410: it wants no more events";
  expect(await subscriptionEvents()).toEqual([
    { type: "SubscriptionDisabled", data: { reason, by: "" } },
  ]);
  await stop();
});

test("a webhook that fails for five days is disabled, and after a success the five days begin again", async () => {
  const url = await world.create(name);
  world.receivers.plays(url, answers(500));
  const { sink, stop } = await world.sinkOf(name);
  const failingFor = async (hours: number): Promise<void> => {
    for (let at = 0; at < hours; at += 24) {
      const before = world.receivers.idsAt(url).length;
      await world.stage.sql("delete from feeds.deliveries where webhook = $1", [name]);
      await sink.take(pageOf(await world.events(1)));
      await world.until(() => world.receivers.idsAt(url).length > before);
      await world.until(async () => (await rows())[0]?.failures === 1);
      await world.until(async () => {
        const text = "select failed_ms from feeds.webhooks where name = $1";
        const [row] = await world.stage.sql<{ failed_ms: number | null }>(text, [name]);
        return row?.failed_ms === world.clock.nowMs() || (await subscriptionEvents()).length > 0;
      });
      await world.stage.sql("delete from feeds.deliveries where webhook = $1", [name]);
      await world.clock.advance(24 * hour);
    }
  };
  await failingFor(4 * 24);
  world.receivers.plays(url, answers(200));
  await sink.take(pageOf(await world.events(1)));
  await world.until(() => areAll("DELIVERED"));
  world.receivers.plays(url, answers(500));
  await failingFor(5 * 24);
  expect(await subscriptionEvents()).toEqual([]);
  await failingFor(24);
  expect(await subscriptionEvents()).toMatchObject([{ type: "SubscriptionDisabled" }]);
  await stop();
});

test("an event that a restored log no longer has fails, and says so", async () => {
  await world.create(name);
  const { sink, failures, stop } = await world.sinkOf(name);
  const head = await world.stage.head();
  const events = await world.events(1);
  await world.stage.restoreTo(head);
  await sink.take(pageOf(events));
  await world.until(() => areAll("FAILED"));
  await world.until(() => failures.length > 0);
  expect(failures).toEqual(["the log no longer has the event: it was restored from a backup"]);
  await stop();
});
