import { expect, test } from "vitest";
import { dueGroups } from "./retention.ts";

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
