import { expect, test } from "vitest";
import { judgeRemovals } from "../testing/judge-removals.ts";

test("code of an experiment that is not deleted is stored, however creates, deletions and deaths pass each other", async () => {
  expect(await judgeRemovals(200)).toBeNull();
});
