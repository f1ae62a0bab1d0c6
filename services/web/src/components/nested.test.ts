import { expect, test } from "vitest";
import { flattened, shownPairs, shownValue } from "./nested.ts";

test("nested values are named by their path, and a list is one value", () => {
  expect(
    flattened({ lr: 1, net: { sizes: [8, { a: 4 }], deep: { on: true }, none: null } }),
  ).toEqual([
    ["lr", 1],
    ["net.sizes", [8, { a: 4 }]],
    ["net.deep.on", true],
    ["net.none", null],
  ]);
  expect(flattened({ empty: {} })).toEqual([]);
});

test("values are shown short: numbers with six digits, the rest as JSON", () => {
  expect([1 / 3, "relu", [8, 4], true, null, undefined].map(shownValue)).toEqual([
    "0.333333",
    "relu",
    "[8,4]",
    "true",
    "null",
    "",
  ]);
});

test("shown pairs are flattened, and empty values have no pairs", () => {
  expect(shownPairs({ net: { dropout: 0.25 } })).toEqual([["net.dropout", "0.25"]]);
  expect(shownPairs(undefined)).toEqual([]);
});
