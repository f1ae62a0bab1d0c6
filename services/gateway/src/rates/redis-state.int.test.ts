import { systemClock } from "@trainyard/kernel/system-clock";
import { redisForTest } from "../testing/redis.ts";
import { RedisState } from "./redis-state.ts";
import { sharedStateContract } from "./shared-state-contract.ts";
import { vi } from "vitest";

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
