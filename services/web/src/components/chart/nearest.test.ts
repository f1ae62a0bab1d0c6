import { expect, test } from "vitest";
import { lineFor } from "./example-lines.ts";
import { closestIndex, type Drawn, nearestLine } from "./nearest.ts";

const drawn = (number: number, y: readonly number[]): Drawn => ({
  line: lineFor(number, [0, 10], y),
  y,
});
const low = drawn(1, [0, 0]);
const rising = drawn(2, [0, 10]);
const pointer = { yRange: [0, 10] as const, log: false, reach: 0.1 };

test("the closest bucket is the one before or after", () => {
  const x = [0, 10, 20];
  expect([-5, 4, 6, 99].map((at) => closestIndex(x, at))).toEqual([0, 0, 1, 2]);
  expect(closestIndex([], 1)).toBe(-1);
});

test("the line under the pointer is selected, even between its buckets", () => {
  expect(nearestLine([low, rising], { ...pointer, x: 5, yShare: 0.52 })?.line.look).toBe(2);
  expect(nearestLine([low, rising], { ...pointer, x: 5, yShare: 0.02 })?.line.look).toBe(1);
});

test("no line is selected far from all lines, beyond their ends, or in a gap", () => {
  expect(nearestLine([low, rising], { ...pointer, x: 5, yShare: 0.9 })).toBeNull();
  expect(nearestLine([low], { ...pointer, x: 11, yShare: 0 })).toBeNull();
  expect(nearestLine([low], { ...pointer, x: 5, yShare: Number.NaN })).toBeNull();
});
