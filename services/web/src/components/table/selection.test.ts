import { expect, test } from "vitest";
import { movedTo, noSelection, toggled, withRange } from "./selection.ts";

test("a row is selected and unselected by its id", () => {
  const one = toggled(noSelection, "12");
  expect([...one]).toEqual(["12"]);
  expect([...toggled(one, "12")]).toEqual([]);
});

test("a range is added in either direction", () => {
  const ids = ["a", "b", "c", "d"];
  expect([...withRange(new Set(["d"]), ids, 2, 1)]).toEqual(["d", "b", "c"]);
});

test("keys move within the rows, and the first key down selects the first row", () => {
  expect(movedTo("j", -1, 10, 5)).toBe(0);
  expect(movedTo("k", 0, 10, 5)).toBe(0);
  expect(movedTo("PageDown", 7, 10, 5)).toBe(9);
  expect(movedTo("End", 0, 10, 5)).toBe(9);
  expect(movedTo("Home", 9, 10, 5)).toBe(0);
  expect(movedTo("q", 1, 10, 5)).toBeNull();
  expect(movedTo("j", -1, 0, 5)).toBeNull();
});
