import { SubscriptionDelivery } from "@trainyard/contracts/events";
import { given } from "@trainyard/testing";
import { test } from "vitest";
import { subscriptionDecider } from "./decide.ts";

const created = {
  type: "SubscriptionCreated",
  data: { delivery: SubscriptionDelivery.WEBHOOK, after: 0 },
} as const;
const wait = { experiment: "12", pool: "default", waitMs: 600_000 };
const note = (run: string, queuedAtMs: number) =>
  ({ type: "NoteQueueWait", run, queuedAtMs, ...wait }) as const;
const exceeded = (run: string, queuedAtMs: number) =>
  ({ type: "QueueWaitExceeded", data: { run, queuedAtMs, ...wait } }) as const;

test("a run that was queued behind the last recorded one is recorded, once", () => {
  given(subscriptionDecider, created).when(note("12.1#1", 50)).then(exceeded("12.1#1", 50));
  const one = given(subscriptionDecider, created, exceeded("12.2#1", 50));
  one.when(note("12.2#1", 50)).thenNothing();
  one.when(note("12.1#1", 50)).thenNothing();
  one.when(note("12.9#1", 49)).thenNothing();
  one.when(note("12.3#1", 50)).then(exceeded("12.3#1", 50));
  one.when(note("12.1#2", 51)).then(exceeded("12.1#2", 51));
});

test("a new webhook of the name of a deleted one records again, and a deleted one nothing", () => {
  const deleted = { type: "SubscriptionDeleted", data: { reason: "", by: "admin" } } as const;
  const gone = [created, exceeded("12.1#1", 50), deleted] as const;
  given(subscriptionDecider, ...gone)
    .when(note("12.2#1", 60))
    .thenNothing();
  given(subscriptionDecider, ...gone, created)
    .when(note("12.1#1", 50))
    .then(exceeded("12.1#1", 50));
});
