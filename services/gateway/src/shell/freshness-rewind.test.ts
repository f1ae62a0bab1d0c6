import { createLogger } from "@trainyard/runtime";
import { ManualClock } from "@trainyard/testing";
import { expect, test } from "vitest";
import { gatewayLimits } from "../limits.ts";
import { Freshness } from "./freshness.ts";

test("a log that went back leaves the read model not behind: it answers as soon as it has what the log has now", async () => {
  const clock = new ManualClock();
  let head = 5_000;
  const view = {
    position: 5_000,
    caughtUpOnce: true,
    lag: async () => Math.max(0, head - view.position),
  };
  const freshness = new Freshness(view, clock, createLogger("gateway", "silent"));
  const stop = new AbortController();
  const running = freshness.run(stop.signal);
  await clock.advance(gatewayLimits.lagCheckMs);
  expect(freshness.unreadable()).toBeNull();
  // It is restored from a backup, and so is the read model that is beside it.
  head = 1_000;
  view.position = 1_000;
  await clock.advance(2 * gatewayLimits.readLagMsMax);
  expect(freshness.behindMs).toBe(0);
  expect(freshness.unreadable()).toBeNull();
  // And what it lacks of that counts, as before.
  head = 1_100;
  await clock.advance(2 * gatewayLimits.readLagMsMax);
  expect(freshness.unreadable()).toContain("1000 of 1100 events");
  stop.abort();
  await clock.advance(0);
  await running;
});
