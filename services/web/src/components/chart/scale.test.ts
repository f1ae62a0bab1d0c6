import fc from "fast-check";
import { expect, test } from "vitest";
import { lineFor } from "./example-lines.ts";
import type { Line } from "./line.ts";
import { firstAtLeast, shareOf, slice, wholeIncrements, xRangeOf, yRangeOf } from "./scale.ts";

function line(x: readonly number[], y: readonly number[], high = y): Line {
  return { ...lineFor(1, x, y), high };
}

test("the range of x covers all lines, is widened around a single point, and is null without points", () => {
  expect(xRangeOf([line([1, 5], [0, 0]), line([3, 9], [0, 0])])).toEqual([1, 9]);
  expect(xRangeOf([line([4], [0])])).toEqual([3.5, 4.5]);
  expect(xRangeOf([line([], [])])).toBeNull();
});

test("labels of an axis that counts are whole numbers apart, from 1 to more than any run's steps", () => {
  expect(wholeIncrements.slice(0, 5)).toEqual([1, 2, 5, 10, 20]);
  expect(wholeIncrements.every((distance) => Number.isSafeInteger(distance))).toBe(true);
  expect(wholeIncrements.at(-1)).toBeGreaterThan(1e12);
});

test("the range of y covers the visible points, bands included", () => {
  const both = [line([0, 1, 2], [5, 6, 900], [5, 8, 900])];
  const [low, high] = yRangeOf(both, [0, 1], false);
  expect(low).toBeCloseTo(4.85);
  expect(high).toBeCloseTo(8.15);
});

test("a logarithmic axis leaves out values of 0 and less", () => {
  const [low, high] = yRangeOf([line([0, 1, 2, 3], [-1, 0, 0.01, 100])], [0, 3], true);
  expect(low).toBeGreaterThan(0.005);
  expect(low).toBeLessThan(0.01);
  expect(high).toBeGreaterThan(100);
  expect(shareOf(0, [low, high], true)).toBeNaN();
  expect(shareOf(low, [low, high], true)).toBe(0);
  expect(shareOf(high, [low, high], true)).toBe(1);
});

test("the y axis has a range even if no value has a position", () => {
  expect(yRangeOf([line([0], [Number.NaN])], [0, 1], false)).toEqual([0, 1]);
  expect(yRangeOf([line([0], [-4])], [0, 1], true)).toEqual([1, 10]);
});

test("any range of y is finite, not empty and covers every visible value", () => {
  const values = fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 1 });
  fc.assert(
    fc.property(values, fc.boolean(), (y, log) => {
      const x = y.map((_, index) => index);
      const [low, high] = yRangeOf([line(x, y)], [0, y.length], log);
      expect(low).toBeLessThan(high);
      for (const value of y) {
        if (log && value <= 0) continue;
        expect(value).toBeGreaterThanOrEqual(low);
        expect(value).toBeLessThanOrEqual(high);
      }
    }),
  );
});

test("a slice has the points in the range and one more at each side, so that lines reach the edges", () => {
  const x = [0, 10, 20, 30, 40];
  expect(slice(x, [15, 25])).toEqual([1, 5]);
  expect(slice(x, [-5, 100])).toEqual([0, 5]);
  expect(slice([], [0, 1])).toEqual([0, 0]);
  expect([firstAtLeast(x, 10), firstAtLeast(x, 11), firstAtLeast(x, 99)]).toEqual([1, 2, 5]);
});
