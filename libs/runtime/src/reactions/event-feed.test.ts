import { createMemoryBus } from "@trainyard/bus";
import { createMemoryLog } from "@trainyard/event-log";
import { ManualClock } from "@trainyard/testing";
import { expect, test } from "vitest";
import { EventFeed } from "./event-feed.ts";

test("a feed whose signal aborts while it reads the log does not wait for more", async () => {
  const stop = new AbortController();
  const log = createMemoryLog({ beforeCall: () => stop.abort() }).as("scheduler");
  const clock = new ManualClock();
  await using feed = await EventFeed.open(log, createMemoryBus({ clock }).connect("test"), clock);
  expect(await feed.next(0, stop.signal)).toEqual([]);
});
