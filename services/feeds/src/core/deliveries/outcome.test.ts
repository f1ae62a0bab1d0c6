import { expect, test } from "vitest";
import { feedsLimits } from "../../limits.ts";
import { disablingReason, failingWith, isDelivered, outcomeOf } from "./outcome.ts";

const day = 86_400_000;

test("only an answer from 200 to 299 delivers an event", () => {
  const statuses = [undefined, 199, 200, 204, 299, 302, 410, 500];
  const delivered = statuses.filter((status) =>
    isDelivered(status === undefined ? {} : { status }),
  );
  expect(delivered).toEqual([200, 204, 299]);
});

test("an event is tried ten times over three days, and then fails", () => {
  const waits: number[] = [];
  for (let failures = 0; ; failures += 1) {
    const outcome = outcomeOf({ status: 500 }, failures, 0.5);
    if (outcome.state !== "WAITING") {
      expect(outcome.state).toBe("FAILED");
      break;
    }
    waits.push(outcome.waitMs);
  }
  expect(waits).toEqual(feedsLimits.webhookWaitsMs);
  expect(waits).toHaveLength(9);
  const sum = waits.reduce((a, b) => a + b, 0);
  expect(sum).toBeGreaterThan(3 * day);
  expect(sum).toBeLessThan(3.2 * day);
});

test("a wait varies by a fifth to both sides", () => {
  expect(outcomeOf({}, 0, 0)).toEqual({ state: "WAITING", waitMs: 4_000 });
  expect(outcomeOf({}, 0, 1)).toEqual({ state: "WAITING", waitMs: 6_000 });
});

test("a receiver may ask for a longer wait, up to the longest of the schedule, and not for a shorter one", () => {
  const wait = (retryAfterMs: number) => outcomeOf({ status: 429, retryAfterMs }, 0, 0.5);
  expect(wait(60_000)).toEqual({ state: "WAITING", waitMs: 60_000 });
  expect(wait(1)).toEqual({ state: "WAITING", waitMs: 5_000 });
  expect(wait(365 * day)).toEqual({ state: "WAITING", waitMs: day });
});

test("a webhook is disabled by 410, and by failures for five days without a success", () => {
  const shown = (status: number, days: number) => {
    const failing = { sinceMs: 0, lastMs: days * day };
    return disablingReason({ status }, failing);
  };
  expect(shown(410, 0)).toMatch(/410/);
  expect(shown(500, 4.9)).toBeNull();
  expect(shown(500, 5)).toMatch(/five days/);
});

test("failures that are further apart than any retry are not one series", () => {
  const first = failingWith(null, 0);
  const next = failingWith(first, day);
  expect(next).toEqual({ sinceMs: 0, lastMs: day });
  expect(failingWith(next, 10 * day)).toEqual({ sinceMs: 10 * day, lastMs: 10 * day });
});
