import { expect, test } from "vitest";
import { judgeRemovals } from "../testing/judge-removals.ts";

test("the code of an existing experiment is stored, in whatever order creates, deletions and crashes happen", async () => {
  expect(await judgeRemovals(80)).toBeNull();
});
