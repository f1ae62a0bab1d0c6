import { expect, test } from "vitest";
import { nextSort, readSort, sortText } from "./sort.ts";

test("an order is written as the API reads it, also for a name with spaces", () => {
  const sort = { field: 'metrics."top 1"', descending: true };
  expect(sortText(sort)).toBe('metrics."top 1" desc');
  expect(readSort(sortText(sort))).toEqual(sort);
  expect(readSort("name")).toEqual({ field: "name", descending: false });
  expect(readSort(" ")).toBeNull();
});

test("a header cycles from ascending to descending to the list's default order", () => {
  const first = nextSort(null, "name");
  const second = nextSort(first, "name");
  expect([sortText(first), sortText(second), nextSort(second, "name")]).toEqual([
    "name",
    "name desc",
    null,
  ]);
  expect(nextSort(second, "state")).toEqual({ field: "state", descending: false });
});
