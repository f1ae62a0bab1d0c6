import { systemClock } from "@trainyard/kernel/system-clock";
import { redisForTest } from "../testing/redis.ts";
import { RedisState } from "./redis-state.ts";
import { sharedStateContract } from "./shared-state-contract.ts";
import { Redis } from "ioredis";
import { expect, test, vi } from "vitest";

sharedStateContract("a Redis", systemClock, async (stack, skip) => {
  const { port } = stack.use(await redisForTest(skip));
  const url = `redis://127.0.0.1:${port}`;
  const one = stack.use(new RedisState(url, () => {}));
  const other = stack.use(new RedisState(url, () => {}));
  for (const state of [one, other]) {
    await vi.waitFor(() => state.take("first", { perSecond: 10, burst: 10 }), 20_000);
  }
  return [one, other];
});

test("a bucket in Redis with a value of another clock or program counts as full", async ({
  skip,
}) => {
  await using stack = new AsyncDisposableStack();
  const { port } = stack.use(await redisForTest(skip));
  const url = `redis://127.0.0.1:${port}`;
  const state = stack.use(new RedisState(url, () => {}));
  const client = stack.adopt(new Redis(url), (opened) => opened.disconnect());
  const rate = { perSecond: 10, burst: 10 };
  await vi.waitFor(() => state.take("first", rate), 20_000);
  const inAnHour = (Date.now() + 3_600_000) * 1_000;
  for (const value of [String(inAnHour), "no number", "-1"]) {
    await client.set("trainyard:rate:bucket", value);
    expect(await state.take("bucket", rate)).toMatchObject({ isTaken: true });
    expect(await client.pttl("trainyard:rate:bucket")).toBeLessThanOrEqual(1_000);
  }
  // The value of an empty bucket before the clock went back by half a second.
  await client.set("trainyard:rate:bucket", String((Date.now() + 1_500) * 1_000));
  expect(await state.take("bucket", rate)).toEqual({ isTaken: false, fullInMicros: 1_000_000 });
});
