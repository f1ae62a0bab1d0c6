import { expect, test } from "vitest";
import { changedSearch, readSearch, topicFilter } from "./search.ts";

test("the URL keeps known parameters, and ids stay texts", () => {
  const given = { filter: "state = ERROR", at: 12, sort: " ", archived: "yes", other: 1 };
  expect(readSearch(given)).toEqual({ filter: "state = ERROR", at: "12" });
});

test("a change of the URL keeps other parameters and drops removed ones", () => {
  const search = { filter: "a", at: "3", archived: true } as const;
  expect(changedSearch(search, { at: undefined, archived: false, sort: "name" })).toEqual({
    filter: "a",
    sort: "name",
  });
});

test("the live topic has the same rows as the list", () => {
  expect(topicFilter({ filter: "a or b", workspace: "vision", project: 'the "best"' })).toBe(
    '(a or b) and workspace = "vision" and project = "the \\"best\\""',
  );
  expect(topicFilter({ filter: "a or b" })).toBe("a or b");
  expect(topicFilter({ workspace: "vision" })).toBe('workspace = "vision"');
});
