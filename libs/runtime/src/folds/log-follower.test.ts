import { createMemoryBus } from "@trainyard/bus/testing";
import { encodeEvent } from "@trainyard/contracts";
import { newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { ManualClock } from "@trainyard/testing";
import { expect, test } from "vitest";
import { runtimeLimits } from "../limits.ts";
import { createLogger } from "../logging.ts";
import { emptyMeta } from "../work/correlation.ts";
import { FoldCache } from "./fold-cache.ts";
import { LogFollower } from "./log-follower.ts";

test("a follower whose log lost its last events drops its folds and follows the log's current events", async () => {
  const clock = new ManualClock();
  const store = createMemoryLog({ clock });
  const log = store.as("metrics");
  const tell = async (count: number): Promise<void> => {
    const stream = "experiment-1";
    const events = Array.from({ length: count }, () => ({
      id: newEventId(),
      ...encodeEvent({ type: "ExperimentPaused", data: {} }),
    }));
    const writes = [{ stream, expectedVersion: store.store.version(stream), events }];
    await log.append({ commitId: newEventId(), writes, guards: [], meta: emptyMeta });
  };
  const counted = {
    name: "counted",
    category: "experiment",
    initial: 0,
    evolve: (n: number) => n + 1,
  };
  const cache = new FoldCache(log);
  const logger = createLogger("metrics", "silent");
  const reported: unknown[] = [];
  const hub = createMemoryBus({ clock });
  await hub.connect("registry").serve("registry", {
    RecordRewind: async ({ body }) => {
      reported.push(JSON.parse(new TextDecoder().decode(body)));
      return { kind: "ok", body: new TextEncoder().encode("{}") };
    },
  });
  const bus = hub.connect("metrics");
  await using stack = new AsyncDisposableStack();
  const begun: number[] = [];
  const follower = await LogFollower.open(cache, {
    ...{ name: "metrics", stack, log, bus, clock, logger },
    begun: async (position) => void begun.push(position),
  });
  const stop = new AbortController();
  await tell(1);
  const restore = store.store.backup();
  const running = follower.run(stop.signal);
  await clock.advance(0);
  await tell(4);
  await clock.advance(runtimeLimits.silentBusMs);
  expect((await cache.load(counted, "1")).state).toBe(5);
  expect(follower.position).toBe(5);
  const [lost] = await log.readAll(4, 1);
  restore();
  await clock.advance(runtimeLimits.silentBusMs);
  expect(reported).toEqual([{ position: 5, event: lost?.id, noticedBy: "metrics" }]);
  expect(follower.position).toBe(0);
  await clock.advance(runtimeLimits.retry.firstMs);
  expect([follower.position, begun]).toEqual([1, [1, 1]]);
  expect((await cache.load(counted, "1")).state).toBe(1);
  await tell(1);
  await clock.advance(runtimeLimits.silentBusMs);
  expect(follower.position).toBe(2);
  expect((await cache.load(counted, "1")).state).toBe(2);
  stop.abort();
  await clock.advance(runtimeLimits.silentBusMs);
  await running;
});
