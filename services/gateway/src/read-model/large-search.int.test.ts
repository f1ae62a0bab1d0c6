import { expect, test } from "vitest";
import { largeSearch } from "../testing/large-search.ts";

test("a large search is deleted and rebuilt within short statements, and reports of others are shown meanwhile", async () => {
  const { violations } = await largeSearch({ trials: 600, statementMs: 300, log: () => {} });
  expect(violations).toEqual([]);
});
