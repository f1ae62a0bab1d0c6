import { createMemoryBus } from "@trainyard/bus/testing";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { createLogger } from "@trainyard/runtime";
import { expect, test } from "vitest";
import { parseConfig } from "./config.ts";
import { createService } from "./service.ts";

test("scheduler is not ready before it has started nor once it drains", async () => {
  const config = parseConfig({
    TRAINYARD_POSTGRES_URL: "unused",
    TRAINYARD_NATS_URL: "unused",
    TRAINYARD_RUN_TOKEN_KEY: "07".repeat(32),
    TRAINYARD_RUN_TOKEN_KEY_ID: "k1",
  });
  const scheduler = await createService(config, {
    log: createMemoryLog().as("scheduler"),
    bus: createMemoryBus().connect("scheduler"),
    logger: createLogger("scheduler", "silent"),
  });
  expect(scheduler.readiness()).toBe("starting");
  await scheduler.start();
  expect(scheduler.readiness()).toBeNull();
  const drained = scheduler[Symbol.asyncDispose]();
  expect(scheduler.readiness()).toBe("draining");
  await drained;
});
