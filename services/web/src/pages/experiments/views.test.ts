import { expect, test } from "vitest";
import { readViews, withoutView, withView } from "./views.ts";

test("a view is saved under its name, without the inspector's experiment", () => {
  const one = withView([], "failed", { filter: "state = ERROR", at: "12" });
  const two = withView(one, "failed", { filter: "state = ERROR", sort: "name" });
  expect(two).toEqual([{ name: "failed", search: { filter: "state = ERROR", sort: "name" } }]);
  expect(withoutView(two, "failed")).toEqual([]);
});

test("an invalid view in the storage is left out", () => {
  const text = JSON.stringify([{ name: "a", search: { filter: 3, x: 1 } }, null, { name: 4 }, "b"]);
  expect(readViews(text)).toEqual([{ name: "a", search: { filter: "3" } }]);
  expect(readViews("{")).toEqual([]);
  expect(readViews(null)).toEqual([]);
});
