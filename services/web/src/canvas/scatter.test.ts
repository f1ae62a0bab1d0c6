import fc from "fast-check";
import { expect, test } from "vitest";
import { scatterOf } from "./scatter.ts";

const box = { width: 100, height: 50, margin: 10 };

test("the smallest values are at the left and the bottom, the largest at the right and the top", () => {
  expect(
    scatterOf(
      [
        [1, 5],
        [3, 9],
        [2, 7],
      ],
      box,
    ),
  ).toEqual([
    { x: 10, y: 40 },
    { x: 90, y: 10 },
    { x: 50, y: 25 },
  ]);
});

test("equal values are in the middle", () => {
  expect(scatterOf([[4, 4]], box)).toEqual([{ x: 50, y: 25 }]);
});

test("every finite point is within the margins", () => {
  const value = fc.double({ noNaN: true, noDefaultInfinity: true });
  fc.assert(
    fc.property(fc.array(fc.tuple(value, value)), (values) => {
      for (const { x, y } of scatterOf(values, box)) {
        expect(x >= 10 && x <= 90 && y >= 10 && y <= 40).toBe(true);
      }
    }),
  );
});
