import { newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { emptyMeta } from "@trainyard/runtime";
import { ManualClock } from "@trainyard/testing";
import { beforeEach, expect, test } from "vitest";
import { gcLimits } from "../limits.ts";
import { LogClock } from "./log-time.ts";

const graceMs = 600_000;
const dayMs = 24 * 3_600_000;
/** The clock of the database, of which this host's differs. */
let database: ManualClock;
let host: ManualClock;
let time: LogClock;
let append: () => Promise<unknown>;

beforeEach(() => {
  [database, host] = [new ManualClock(1_700_000_000_000), new ManualClock(0)];
  const log = createMemoryLog({ clock: database }).as("test");
  let version = 0;
  append = async () => {
    const events = [{ id: newEventId(), type: "dev.trainyard.test.Happened.v1", body: "{}" }];
    const writes = [{ stream: "test-1", expectedVersion: version, events }];
    version += 1;
    await log.append({ commitId: newEventId(), meta: emptyMeta, writes, guards: [] });
  };
  time = new LogClock(log, host, graceMs);
});

const pass = async (ms: number): Promise<void> => {
  await database.advance(ms);
  await host.advance(ms);
};

test("the log's time is that of its newest event, and advances with the monotonic clock", async () => {
  await time.look();
  expect(time.nowMs()).toBe(0);
  await append();
  await pass(5_000);
  await time.look();
  // The process has just seen the first event, and cannot know its age.
  expect(time.nowMs()).toBe(1_700_000_000_000);
  await pass(1_000);
  expect(time.nowMs()).toBe(1_700_000_001_000);
  await append();
  await time.look();
  expect(time.nowMs()).toBe(1_700_000_006_000);
  expect(time.heldMs()).toBe(0);
});

test("no grace is over for one more grace after the log's clock was set forward", async () => {
  await append();
  await time.look();
  await append();
  await time.look();
  await database.advance(dayMs);
  await append();
  await time.look();
  expect(time.heldMs()).toBe(graceMs);
  await pass(graceMs - 1);
  await append();
  await time.look();
  expect(time.heldMs()).toBe(1);
  await pass(1);
  expect(time.heldMs()).toBe(0);
});

test("a long time without events, or a small difference of the clocks, holds nothing", async () => {
  await append();
  await time.look();
  await pass(dayMs);
  await database.advance(gcLimits.clockJumpMs);
  await append();
  await time.look();
  expect(time.heldMs()).toBe(0);
});

test("the first event after a start, with whose time the age of the one before becomes known, holds nothing", async () => {
  await append();
  await database.advance(dayMs);
  await time.look();
  await append();
  await time.look();
  expect(time.heldMs()).toBe(0);
  await database.advance(dayMs);
  await append();
  await time.look();
  expect(time.heldMs()).toBe(graceMs);
});
