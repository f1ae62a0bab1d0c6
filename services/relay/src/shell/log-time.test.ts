import { newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import type { Clock } from "@trainyard/kernel";
import { expect, test } from "vitest";
import { watchLogTime } from "./log-time.ts";

test("relay reports a log whose time is ahead of the clock until the clock has caught up", async () => {
  let nowMs = 10_000_000;
  let fire = (): void => {};
  const clock: Clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    timer(afterMs, callback) {
      fire = () => {
        nowMs += afterMs;
        callback();
      };
      return { [Symbol.dispose]: () => {} };
    },
  };
  const rest = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const later = async (): Promise<void> => {
    fire();
    await rest();
  };
  let away = false;
  let aheadByMs = 90_000;
  const memory = createMemoryLog({
    clock: { nowMs: () => clock.nowMs() + aheadByMs },
    beforeCall: () => {
      if (away) throw new Error("the log is away");
    },
  });
  const log = memory.as("relay");
  await log.append({
    commitId: newEventId(),
    writes: [
      {
        stream: "pool-default",
        expectedVersion: 0,
        events: [{ id: newEventId(), type: "t", body: "{}" }],
      },
    ],
    guards: [],
    meta: {
      source: "",
      workspace: "",
      correlationid: "",
      causationid: "",
      authid: "",
      traceparent: "",
    },
  });
  aheadByMs = 0;
  const seen: [number, boolean][] = [];
  const events = { logAhead: (ms: number, much: boolean) => void seen.push([ms, much]) };
  const stop = new AbortController();
  const watching = watchLogTime({ log, clock, events: events as never }, stop.signal);
  await rest();
  // The log is unavailable once, and is read again.
  away = true;
  await later();
  away = false;
  await later();
  expect(seen).toEqual([
    [90_000, true],
    [0, false],
  ]);
  stop.abort();
  await watching;
});
