import { expect, test } from "vitest";
import { dueGroups, nextSweepMs } from "./retention.ts";

const day = 24 * 60 * 60 * 1_000;
const policy = { days: 30, byGroup: { validation: -1, "my group": 7 } };

test("groups are due after their days since the end, and the other groups after the experiment's days", () => {
  const due = (days: number) => dueGroups(policy, 1_000, 1_000 + days * day);
  const except = ["validation", "my group"];
  expect(due(6.9)).toBeNull();
  expect(due(7)).toEqual({ named: ["my group"], others: false, except });
  expect(due(30)).toEqual({ named: ["my group"], others: true, except });
});

test("no group is due when all groups are kept forever", () => {
  expect(dueGroups({ days: -1, byGroup: { a: -1 } }, 0, 1e6 * day)).toBeNull();
});

test("a sweep looks again when the next group is due, and for eight days after each removal", () => {
  const next = (days: number) => (nextSweepMs(policy, 0, days * day) - days * day) / day;
  expect([next(0), next(6), next(7), next(14), next(16)]).toEqual([7, 1, 0, 0, 14]);
  expect([next(30), next(37), next(38), next(400)]).toEqual([0, 0, Infinity, Infinity]);
  expect(nextSweepMs({ days: -1, byGroup: {} }, 0, day)).toBe(Infinity);
});
