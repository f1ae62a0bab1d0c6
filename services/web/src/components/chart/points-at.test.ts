import fc from "fast-check";
import { expect, test } from "vitest";
import { lineFor } from "./example-lines.ts";
import type { Line } from "./line.ts";
import type { Drawn } from "./nearest.ts";
import { pointsAt } from "./points-at.ts";

const drawnOf = (...lines: readonly Line[]): readonly Drawn[] =>
  lines.map((line) => ({ line, y: line.y }));
const axes = { x: [0, 400], y: [0, 1], log: false } as const;
const reach = 0.1;
const names = (found: ReturnType<typeof pointsAt>) => found?.points.map(({ line: { of } }) => of);
const stepOf = (found: ReturnType<typeof pointsAt>) =>
  found === null ? null : found.snap.line.x[found.snap.index];

test("the pointer between two steps is at the step of the closest point", () => {
  const found = pointsAt(
    drawnOf(lineFor(1, [0, 176, 352], [1, 0.88665, 0.8])),
    { xShare: 173.8156 / 400, yShare: 0.2 },
    axes,
    reach,
  );
  expect(stepOf(found)).toBe(176);
  expect(found?.points[0]?.line.y[found.points[0].index]).toBe(0.88665);
});

test("all lines with a point at that step are listed, the nearest to the pointer first", () => {
  const lines = drawnOf(
    lineFor(1, [0, 200], [0.9, 0.9]),
    lineFor(2, [0, 200], [0.1, 0.1]),
    lineFor(3, [0, 200], [0.4, 0.4]),
    lineFor(4, [0, 300], [0.5, 0.5]),
    lineFor(5, [0, 200], [0.4, Number.NaN]),
  );
  const found = pointsAt(lines, { xShare: 0.49, yShare: 0.35 }, axes, reach);
  expect(names(found)).toEqual(["12.3", "12.2", "12.1", "12.5"]);
});

test("the step is one of the line under the pointer, even if another line has a closer one", () => {
  const lines = drawnOf(lineFor(1, [0, 200, 400], [1, 1, 1]), lineFor(2, [0, 240, 400], [0, 0, 0]));
  const at = (yShare: number) => stepOf(pointsAt(lines, { xShare: 0.53, yShare }, axes, reach));
  expect([at(0.98), at(0.03), at(0.5)]).toEqual([200, 240, 200]);
});

test("a line with other buckets has the bucket with the step, and one without such a bucket has none", () => {
  const wide = { ...lineFor(2, [150, 350], [0.5, 0.6]), from: [100, 300], to: [200, 400] };
  const lines = drawnOf(lineFor(1, [0, 198], [0.4, 0.4]), wide, lineFor(3, [0, 260], [0, 0]));
  const found = pointsAt(lines, { xShare: 0.5, yShare: 0.41 }, axes, reach);
  expect(names(found)).toEqual(["12.1", "12.2"]);
  expect(found?.points[1]?.index).toBe(0);
});

test("a pointer that another chart moves lists the lines in their order", () => {
  const lines = drawnOf(lineFor(1, [0], [0.1]), lineFor(2, [0], [0.9]));
  const found = pointsAt(lines, { xShare: 0, yShare: Number.NaN }, axes, reach);
  expect(names(found)).toEqual(["12.1", "12.2"]);
  expect(pointsAt([], { xShare: 0, yShare: 0 }, axes, reach)).toBeNull();
  expect(
    pointsAt(drawnOf(lineFor(1, [900], [1])), { xShare: 1, yShare: 0 }, axes, reach),
  ).toBeNull();
});

test("the step is always that of a point in the range, and no point in the range is closer", () => {
  const steps = fc.uniqueArray(fc.integer({ min: 0, max: 600 }), { minLength: 1, maxLength: 40 });
  const lists = fc.array(steps, { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(lists, fc.double({ min: 0, max: 1, noNaN: true }), (all, xShare) => {
      const lines = all.map((list, at) => {
        const x = list.toSorted((a, b) => a - b);
        return lineFor(
          at + 1,
          x,
          x.map(() => 0.5),
        );
      });
      const found = pointsAt(drawnOf(...lines), { xShare, yShare: Number.NaN }, axes, reach);
      const inRange = all.flat().filter((step) => step <= 400);
      const least = Math.min(...inRange.map((step) => Math.abs(step - 400 * xShare)));
      expect(found === null).toBe(inRange.length === 0);
      if (found === null) return;
      const step = stepOf(found) ?? Number.NaN;
      expect(inRange).toContain(step);
      expect(Math.abs(step - 400 * xShare)).toBeCloseTo(least, 9);
    }),
  );
});
