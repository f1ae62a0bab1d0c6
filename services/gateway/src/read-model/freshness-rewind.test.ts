import { createLogger } from "@trainyard/runtime";
import { ManualClock } from "@trainyard/testing";
import { expect, test } from "vitest";
import { Freshness } from "./freshness.ts";
import { readModelLimits } from "./limits.ts";

test("after a rewind of the log the read model answers as soon as it has all events that the log has", async () => {
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
  await clock.advance(readModelLimits.lagCheckMs);
  expect(freshness.unreadable()).toBeNull();
  // The log and its read model are restored from a backup.
  head = 1_000;
  view.position = 1_000;
  await clock.advance(2 * readModelLimits.readLagMsMax);
  expect(freshness.behindMs).toBe(0);
  expect(freshness.unreadable()).toBeNull();
  // Events that the read model lacks after the restore count as lag again.
  head = 1_100;
  await clock.advance(2 * readModelLimits.readLagMsMax);
  expect(freshness.unreadable()).toContain("1000 of 1100 events");
  stop.abort();
  await clock.advance(0);
  await running;
});
