import fc from "fast-check";
import { expect, test } from "vitest";
import { joinedAtEqualX } from "./equal-x.ts";
import type { Series } from "./line.ts";

/** A series with a bucket for each point. */
function seriesOf(points: readonly (readonly [x: number, value: number])[]): Series {
  const xs = points.map(([x]) => x);
  const values = points.map(([, value]) => value);
  const finite = values.map((value) => (Number.isFinite(value) ? value : Number.NaN));
  return {
    ...{ trial: "", group: "training", name: "loss", xMin: xs, xMax: xs },
    ...{ min: finite, max: finite, mean: finite, first: values, last: values },
    count: values.map(() => 1),
    deviation: finite.map((value) => value - value),
    nans: values.map((value) => (Number.isNaN(value) ? 1 : 0)),
    infinities: values.map((value) => (Math.abs(value) === Number.POSITIVE_INFINITY ? 1 : 0)),
  };
}

const value = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: -1_000, max: 1_000 }) },
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY),
);
const somePoints = fc.array(fc.tuple(fc.integer({ min: 0, max: 6 }), value), { maxLength: 30 });

test("points of a group at equal x are one bucket with their mean, least and greatest value", () => {
  fc.assert(
    fc.property(somePoints, (given) => {
      const points = given.toSorted(([a], [b]) => a - b);
      const joined = joinedAtEqualX(seriesOf(points));
      const byX = [...Map.groupBy(points, ([x]) => x)];
      expect(joined.xMin).toEqual(byX.map(([x]) => x));
      for (const [at, [, own]] of byX.entries()) {
        const finite = own.map(([, y]) => y).filter(Number.isFinite);
        expect(joined.count[at]).toBe(own.length);
        expect(joined.min[at]).toBe(finite.length === 0 ? Number.NaN : Math.min(...finite));
        expect(joined.max[at]).toBe(finite.length === 0 ? Number.NaN : Math.max(...finite));
        const mean = finite.reduce((sum, y) => sum + y, 0) / finite.length;
        if (finite.length === 0) expect(joined.mean[at]).toBeNaN();
        else expect(joined.mean[at]).toBeCloseTo(mean, 9);
        const marked = (joined.nans[at] ?? 0) + (joined.infinities[at] ?? 0);
        expect(marked).toBe(own.length - finite.length);
      }
    }),
  );
});

test("a series whose x differ stays the same object, and a wide bucket joins no other", () => {
  const series = seriesOf([
    [1, 2],
    [2, 3],
  ]);
  expect(joinedAtEqualX(series)).toBe(series);
  const wide = {
    ...seriesOf([
      [1, 2],
      [1, 4],
    ]),
    xMax: [1, 3],
  };
  expect(joinedAtEqualX(wide)).toBe(wide);
});

test("the deviation of points at equal x is that of all of them", () => {
  const { deviation } = joinedAtEqualX(
    seriesOf([
      [5, 1],
      [5, 3],
    ]),
  );
  expect(deviation).toEqual([1]);
});
