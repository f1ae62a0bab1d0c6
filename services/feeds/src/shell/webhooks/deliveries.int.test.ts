import { afterAll, beforeAll, expect, test } from "vitest";
import { answers } from "../../testing/played-receivers.ts";
import { pageOf, TestWebhooks } from "../../testing/test-webhooks.ts";

const day = 86_400_000;

let world: TestWebhooks;

beforeAll(async () => {
  world = await TestWebhooks.open();
});
afterAll(() => world[Symbol.asyncDispose]());

const states = async () => {
  const text = "select webhook, state from feeds.deliveries order by webhook";
  return (await world.stage.sql<{ webhook: string; state: string }>(text)).map(
    ({ webhook, state }) => `${webhook} ${state}`,
  );
};

test("deliveries that ended are kept for a week, and waiting ones until they end", async () => {
  const stop = new AbortController();
  const refused = await world.create("refused");
  world.receivers.plays(refused, answers(500));
  await world.create("taken");
  const [first, second] = [await world.sinkOf("refused"), await world.sinkOf("taken")];
  const page = pageOf(await world.events(1));
  await first.sink.take(page);
  await second.sink.take(page);
  await world.until(() => second.failures.length + first.failures.length === 2);
  await first.stop();
  await second.stop();
  const running = world.webhooks.loop.run(stop.signal);
  await world.clock.advance(6 * day);
  expect(await states()).toEqual(["refused WAITING", "taken DELIVERED"]);
  await world.until(async () => (await states()).length === 1, day / 4);
  expect(world.clock.nowMs()).toBeGreaterThanOrEqual(1_700_000_000_000 + 7 * day);
  expect(await states()).toEqual(["refused WAITING"]);
  const attempts = "select webhook from feeds.attempts";
  expect(await world.stage.sql(attempts)).toEqual([{ webhook: "refused" }]);
  stop.abort();
  await running;
});

test("a webhook is prepared once for one life, and another life of the name begins without deliveries", async () => {
  const { room } = world.webhooks;
  const reader = { owner: "admin", tokenId: "aa", ancestors: [], expiresAtMs: 0 };
  const request = {
    ...{ name: "lives", delivery: "webhook", after: 0, reader, headers: {}, secret: "" },
    url: "https://lives.example/hook",
  };
  const first = await room.prepare(request, "one");
  expect(await room.prepare(request, "one")).toEqual(first);
  const { sink, stop } = await world.sinkOf("lives");
  world.receivers.plays(request.url, answers(500));
  await sink.take(pageOf(await world.events(2)));
  expect((await room.facts(["lives"])).get("lives")).toMatchObject({ waiting: 2 });
  await stop();
  expect(await room.prepare(request, "two")).not.toEqual(first);
  expect((await room.facts(["lives"])).get("lives")).toMatchObject({ waiting: 0 });
});

test("a removed webhook takes no more events", async () => {
  const url = await world.create("removed");
  const { sink, places, stop } = await world.sinkOf("removed");
  await world.webhooks.room.remove("removed");
  await sink.take(pageOf(await world.events(1)));
  expect(places).not.toEqual([]);
  expect(world.receivers.idsAt(url)).toEqual([]);
  const rows = "select count(*)::integer as left from feeds.deliveries where webhook = 'removed'";
  expect(await world.stage.sql(rows)).toEqual([{ left: 0 }]);
  await stop();
});
