import { expect, test } from "vitest";
import { inRows } from "./chart-png.ts";

test("the legend of a picture begins a row where an entry does not fit, and a long entry has its own", () => {
  expect(inRows([40, 40, 40, 200, 10], 100, 10)).toEqual([
    { x: 0, row: 0 },
    { x: 50, row: 0 },
    { x: 0, row: 1 },
    { x: 0, row: 2 },
    { x: 0, row: 3 },
  ]);
});
