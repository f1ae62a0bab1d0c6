import fc from "fast-check";
import { expect, test } from "vitest";
import { type Answer, halved, type Point, type Series, withPoints } from "./series-points.ts";

const empty: Series = {
  trial: "1.1",
  group: "training",
  name: "loss",
  xMin: [],
  xMax: [],
  count: [],
  min: [],
  max: [],
  mean: [],
  deviation: [],
  first: [],
  last: [],
  nans: [],
  infinities: [],
};
const answer = (...series: readonly Series[]): Answer => ({
  series,
  streamPosition: "",
  streamPositions: {},
  position: "7",
});

function point(steps: number, loss: number, of: Partial<Point> = {}): Point {
  return {
    trial: "1.1",
    run: 1,
    group: "training",
    stepsCompleted: steps,
    reportedAtMs: 1_000 * steps,
    metrics: { loss, epoch: steps / 10 },
    superseded: false,
    others: {},
    key: `0-${steps}`,
    ...of,
  };
}

test("new points are appended to the series, and known points change nothing", () => {
  const once = withPoints(answer(empty), {}, [point(1, 0.5), point(2, 0.4)]);
  expect(once.series[0]).toMatchObject({ xMax: [1, 2], mean: [0.5, 0.4], count: [1, 1] });
  expect(withPoints(once, {}, [point(1, 9), point(2, 9)])).toBe(once);
});

test("a series named like a property of every object, such as constructor, contains only reported points", () => {
  const series = answer({ ...empty, name: "constructor" });
  expect(withPoints(series, {}, [point(1, 0.5)])).toBe(series);
  const reported = point(1, 0.5, { metrics: { constructor: 2 } as unknown as Point["metrics"] });
  expect(withPoints(series, {}, [reported]).series[0]).toMatchObject({ mean: [2] });
});

test("points of other trials, groups and names, and superseded points, are ignored", () => {
  const others = [
    point(1, 1, { trial: "1.2" }),
    point(1, 1, { group: "validation" }),
    point(1, 1, { metrics: { other: 1 } }),
    point(1, 1, { superseded: true }),
  ];
  const before = answer(empty);
  expect(withPoints(before, {}, others)).toBe(before);
});

test("x is the step, the time or another metric, and a zoomed answer ends at the end of its range", () => {
  const xs = (request: object) => withPoints(answer(empty), request, [point(4, 1)]).series[0]?.xMin;
  expect(xs({})).toEqual([4]);
  expect(xs({ x: "time" })).toEqual([4_000]);
  expect(xs({ x: "epoch" })).toEqual([0.4]);
  expect(xs({ x: "absent" })).toEqual([]);
  expect(xs({ from: 0, to: 3 })).toEqual([]);
});

test("NaN and infinities are counted and do not affect min, max and mean", () => {
  const points = [point(1, Number.NaN), point(2, Number.POSITIVE_INFINITY)];
  const [series] = withPoints(answer(empty), {}, points).series;
  expect(series).toMatchObject({ nans: [1, 0], infinities: [0, 1], min: [Number.NaN, Number.NaN] });
  expect(series?.last[1]).toBe(Number.POSITIVE_INFINITY);
});

test("a long stream keeps at most twice the buckets, with every point counted and every extreme kept", () => {
  const value = fc.oneof(fc.double({ min: -1e3, max: 1e3, noNaN: true }), fc.constant(Number.NaN));
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 200 }), (values) => {
      let all = answer(empty);
      for (const [index, loss] of values.entries()) {
        all = withPoints(all, { buckets: 10 }, [point(index + 1, loss)]);
      }
      const [series] = all.series;
      const finite = values.filter(Number.isFinite);
      expect(series?.xMin.length).toBeLessThanOrEqual(20);
      expect(series?.count.reduce((a, b) => a + b, 0)).toBe(values.length);
      expect(series?.nans.reduce((a, b) => a + b, 0)).toBe(values.length - finite.length);
      expect(series?.xMax.at(-1)).toBe(values.length);
      if (finite.length === 0) return;
      const known = (list: readonly number[] = []) => list.filter(Number.isFinite);
      expect(Math.min(...known(series?.min))).toBe(Math.min(...finite));
      expect(Math.max(...known(series?.max))).toBe(Math.max(...finite));
    }),
  );
});

test("two merged buckets have the mean and the deviation of their points", () => {
  const [series] = withPoints(answer(empty), {}, [point(1, 1), point(2, 2), point(3, 6)]).series;
  const joined = halved(halved(series ?? empty));
  expect(joined.mean[0]).toBeCloseTo(3);
  expect(joined.deviation[0]).toBeCloseTo(Math.sqrt(14 / 3));
  expect(joined).toMatchObject({ xMin: [1], xMax: [3], first: [1], last: [6], count: [3] });
});
