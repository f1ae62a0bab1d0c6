import { expect, test } from "vitest";
import { zoomByKey } from "./zoom.ts";

test("keys zoom around the middle, and back to the whole range", () => {
  expect(zoomByKey("+", [0, 100], [0, 100])).toEqual([25, 75]);
  expect(zoomByKey("-", [25, 75], [0, 100])).toBeNull();
  expect(zoomByKey("-", [40, 50], [0, 100])).toEqual([35, 55]);
  expect(zoomByKey("0", [40, 50], [0, 100])).toBeNull();
  expect(zoomByKey("x", [40, 50], [0, 100])).toBeUndefined();
});

test("arrow keys move the range and stop at the ends", () => {
  expect(zoomByKey("ArrowRight", [0, 40], [0, 100])).toEqual([10, 50]);
  expect(zoomByKey("ArrowRight", [55, 95], [0, 100])).toEqual([60, 100]);
  expect(zoomByKey("ArrowLeft", [5, 45], [0, 100])).toEqual([0, 40]);
});
