import fc from "fast-check";
import { expect, test } from "vitest";
import { smoothed } from "./smooth.ts";

test("smoothing with a weight of 0 changes nothing", () => {
  const values = [3, Number.NaN, 1];
  expect(smoothed(values, 0)).toEqual(values);
});

test("the smoothed average starts at the first value, not near zero", () => {
  expect(smoothed([8, 8, 8], 0.9)).toEqual([8, 8, 8].map((value) => expect.closeTo(value, 12)));
  expect(smoothed([1, 0], 0.5)[1]).toBeCloseTo(1 / 3, 12);
});

test("values that are not finite are kept and do not affect later averages", () => {
  const [first, gap, infinite, last] = smoothed([2, Number.NaN, Number.POSITIVE_INFINITY, 2], 0.9);
  expect([first, gap, infinite]).toEqual([2, Number.NaN, Number.POSITIVE_INFINITY]);
  expect(last).toBeCloseTo(2, 12);
});

test("an average never leaves the range of the values before it", () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1 }),
      fc.double({ min: 0, max: 0.99, noNaN: true }),
      (values, weight) => {
        for (const [index, average] of smoothed(values, weight).entries()) {
          const before = values.slice(0, index + 1);
          expect(average).toBeGreaterThanOrEqual(Math.min(...before) - 1e-6);
          expect(average).toBeLessThanOrEqual(Math.max(...before) + 1e-6);
        }
      },
    ),
  );
});
