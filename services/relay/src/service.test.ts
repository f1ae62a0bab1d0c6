import { createMemoryBus } from "@trainyard/bus/testing";
import { newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { createLogger, emptyMeta } from "@trainyard/runtime";
import { expect, test, vi } from "vitest";
import { parseConfig } from "./config.ts";
import { createService } from "./service.ts";

const config = parseConfig({ TRAINYARD_POSTGRES_URL: "unused", TRAINYARD_NATS_URL: "unused" });

test("one of two replicas relays, and the other one continues when it stops", async () => {
  const log = createMemoryLog();
  const hub = createMemoryBus();
  const heard: number[] = [];
  await hub.connect("listener").tailEvents((event) => heard.push(event.position));
  const writer = log.as("writer");
  let version = 0;
  const append = async (): Promise<void> => {
    const event = { id: newEventId(), type: "dev.trainyard.pool.PoolRemoved.v1", body: "{}" };
    const write = { stream: "pool-default", expectedVersion: version, events: [event] };
    await writer.append({ commitId: newEventId(), writes: [write], guards: [], meta: emptyMeta });
    version += 1;
  };
  const replica = (): ReturnType<typeof createService> =>
    createService(config, {
      log: log.as("relay"),
      bus: hub.connect("relay"),
      logger: createLogger("relay", "silent"),
    });
  const first = await replica();
  await using second = await replica();
  await first.start();
  await second.start();
  expect([first.readiness(), second.readiness()]).toEqual([null, null]);
  await append();
  await vi.waitFor(() => expect(heard).toEqual([1]), { timeout: 90_000 });
  await first[Symbol.asyncDispose]();
  expect(first.readiness()).toBe("draining");
  await append();
  await vi.waitFor(() => expect(heard).toEqual([1, 2]), { timeout: 90_000 });
});
