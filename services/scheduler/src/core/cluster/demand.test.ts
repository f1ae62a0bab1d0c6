import { expect, test } from "vitest";
import { preemptionTimeoutOf } from "./demand.ts";

test("a preemption timeout is from a millisecond to a day, and an hour where none was recorded", () => {
  const resources = { pool: "default", slots: 1, priority: 42, weight: 1, singleAgent: false };
  const timeouts = [0, 600_000, 4_294_967_295].map((preemptionTimeoutMs) =>
    preemptionTimeoutOf({ ...resources, preemptionTimeoutMs }),
  );
  expect(timeouts).toEqual([1, 600_000, 86_400_000]);
  expect(preemptionTimeoutOf(resources)).toBe(3_600_000);
});
