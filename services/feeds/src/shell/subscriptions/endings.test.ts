import { newEventId } from "@trainyard/event-log";
import { createMemoryLog, type MemoryLog } from "@trainyard/event-log/testing";
import { emptyMeta } from "@trainyard/runtime";
import { ManualClock } from "@trainyard/testing";
import { beforeEach, expect, test } from "vitest";
import type { ProgressRow } from "../dispatch/progress.ts";
import type { Subscription } from "../view/subscriptions-view.ts";
import { endOf } from "./endings.ts";

const minute = 60_000;
const filter = {
  types: [],
  object: "",
  id: "",
  experiment: "",
  workspace: "",
  label: "",
  where: [],
};

let clock: ManualClock;
let log: MemoryLog;
let row: ProgressRow;
let subscription: Subscription;

beforeEach(async () => {
  clock = new ManualClock();
  log = createMemoryLog({ clock });
  await happen();
  const known = { name: "a", life: 1, createdAtMs: clock.nowMs(), after: 0, filter, webhook: null };
  const reader = { owner: "admin", tokenId: "aa", ancestors: [], expiresAtMs: 0 };
  subscription = {
    ...{ ...known, delivery: "nats", reader, expiresAfterMs: minute },
    ...{ stopped: null, disabled: null },
  };
  acknowledge(1);
});

async function happen(): Promise<void> {
  const events = [{ id: newEventId(), type: "dev.trainyard.pool.PoolRemoved.v1", body: "{}" }];
  const expectedVersion = log.store.events.length;
  const writes = [{ stream: "pool-a", expectedVersion, events }];
  await log.as("writer").append({ commitId: newEventId(), writes, guards: [], meta: emptyMeta });
}

function acknowledge(position: number): void {
  const event = log.store.events[position - 1]?.id ?? "";
  const at = { acknowledgedAtMs: clock.nowMs(), lastError: "", lastErrorAtMs: null };
  row = { name: "a", life: 1, position, event, ...at };
}

function end() {
  const progress = { rows: async () => new Map([["a", row]]) };
  return endOf({ clock, log: log.as("feeds"), progress }, subscription, row, 0);
}

test("a subscription without acknowledgements ends only after an event has waited for so long", async () => {
  await clock.advance(60 * minute);
  expect(await end()).toBeNull();
  await happen();
  expect(await end()).toBeNull();
  await clock.advance(minute);
  expect(await end()).toMatchObject({ type: "Delete" });
  acknowledge(2);
  expect(await end()).toBeNull();
});

test("a subscription stops when its token expires", async () => {
  const reader = { ...subscription.reader, expiresAtMs: clock.nowMs() + minute };
  subscription = { ...subscription, reader };
  expect(await end()).toBeNull();
  await clock.advance(minute);
  expect(await end()).toMatchObject({ type: "Stop", tokenId: "aa" });
});
