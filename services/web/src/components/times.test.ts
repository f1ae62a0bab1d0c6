import { expect, test } from "vitest";
import { elapsedOf, leftOf, ranOf } from "./times.ts";

const minute = 60_000;

test("the time left has one unit, and is empty without an estimate and when it is over", () => {
  expect(leftOf({ estimatedEndAtMs: 14 * minute + 5_000 }, 10 * minute)).toBe("4m");
  expect(leftOf({ estimatedEndAtMs: 200 * minute }, 0)).toBe("3h");
  expect(leftOf({ estimatedEndAtMs: 9 * minute }, 10 * minute)).toBe("");
  expect(leftOf({}, 10 * minute)).toBe("");
});

test("the elapsed time, and the time in which a run trained without pauses", () => {
  const times = { createdAtMs: 0, ranMs: 2 * minute, runningSinceMs: 9 * minute };
  expect(elapsedOf(times, 10 * minute)).toBe("10m");
  expect(ranOf(times, 10 * minute)).toBe("3m");
  expect(ranOf({ createdAtMs: 0, endedAtMs: minute, ranMs: 0 }, 10 * minute)).toBe("0s");
  expect(elapsedOf({ createdAtMs: 0, endedAtMs: minute, ranMs: 0 }, 10 * minute)).toBe("1m");
});
