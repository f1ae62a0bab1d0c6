import fc from "fast-check";
import { expect, test } from "vitest";
import { placeBeside } from "./place-beside.ts";

const window = { width: 1_000, height: 600 };
const size = { width: 200, height: 100 };

test("a tooltip is to the right of the pointer, and at the right edge to its left", () => {
  expect(placeBeside({ x: 300, y: 300 }, size, window)).toEqual({ x: 316, y: 250 });
  expect(placeBeside({ x: 900, y: 300 }, size, window)).toEqual({ x: 684, y: 250 });
});

test("a tooltip of a narrow window is below the pointer, and at the bottom above it", () => {
  const phone = { width: 360, height: 640 };
  const wide = { width: 300, height: 100 };
  expect(placeBeside({ x: 100, y: 100 }, wide, phone)).toEqual({ x: 8, y: 116 });
  expect(placeBeside({ x: 200, y: 600 }, wide, phone)).toEqual({ x: 50, y: 484 });
});

test("a tooltip is inside every window that has space, and beside the pointer where it fits", () => {
  const length = (max: number) => fc.integer({ min: 1, max });
  const box = fc.record({ width: length(400), height: length(300) });
  const pointer = fc.record({ x: length(1_000), y: length(600) });
  fc.assert(
    fc.property(pointer, box, (at, { width, height }) => {
      const { x, y } = placeBeside(at, { width, height }, window);
      expect(Math.min(x, y)).toBeGreaterThanOrEqual(8);
      expect(x + width).toBeLessThanOrEqual(window.width - 8);
      expect(y + height).toBeLessThanOrEqual(window.height - 8);
      expect(x > at.x || x + width < at.x).toBe(true);
    }),
  );
});
