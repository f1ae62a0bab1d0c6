import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Aggregation, aggregations } from "../columns/table.ts";
import { bucketsOf, bucketsOfStretches, JoinedBuckets } from "./buckets.ts";
import { type Chunk, joinPoints, stretchesOf } from "./points.ts";

type Point = {
  readonly run: number;
  readonly step: number;
  readonly rank: number;
  readonly value: number;
  readonly how?: Aggregation;
};

function chunkOf(points: readonly (Point & { readonly n: number })[]): Chunk {
  const list = (read: (point: Point & { readonly n: number }) => number) =>
    Float64Array.from(points.map(read));
  return {
    run: points[0]?.run ?? 1,
    steps: list(({ step }) => step),
    xs: list(({ step }) => step),
    values: list(({ value }) => value),
    rest: () => ({
      times: list(({ step }) => step * 10),
      ranks: list(({ rank }) => rank),
      aggregations: list(({ how = "mean" }) => aggregations.indexOf(how)),
      numbers: list(({ n }) => n),
    }),
  };
}

const pointsOf = (chunks: readonly Chunk[], lastStep: (run: number) => number) =>
  joinPoints(stretchesOf(chunks, lastStep));
const all = () => Number.POSITIVE_INFINITY;
const series = (points: readonly Point[], lastStep: (run: number) => number = all) => {
  const runs = Map.groupBy(
    points.map((point, n) => ({ ...point, n })),
    ({ run }) => run,
  );
  const { xs, values } = pointsOf([...runs.values()].map(chunkOf), lastStep);
  return [...xs].map((x, i) => [x, values[i]]);
};

describe("points", () => {
  const point = fc.record({
    run: fc.integer({ min: 1, max: 3 }),
    step: fc.nat(9),
    rank: fc.nat(2),
    value: fc.nat(99),
  });

  test("are in the same order however they are divided into parts", () => {
    const cuts = fc.array(fc.nat(40), { maxLength: 5 });
    fc.assert(
      fc.property(fc.array(point, { minLength: 1, maxLength: 40 }), cuts, (given, bounds) => {
        const numbered = given.map((one, n) => ({ ...one, n }));
        const parts = [0, ...bounds.toSorted((a, b) => a - b), 40].flatMap((start, i, list) => [
          ...Map.groupBy(numbered.slice(start, list[i + 1] ?? start), ({ run }) => run).values(),
        ]);
        const whole = [...Map.groupBy(numbered, ({ run }) => run).values()];
        expect(pointsOf(parts.map(chunkOf).toReversed(), all)).toEqual(
          pointsOf(whole.map(chunkOf), all),
        );
      }),
    );
  });

  test("of one rank are sorted by run, step and key, also where blocks overlap", () => {
    const steps = fc.array(fc.oneof(fc.nat(9), fc.integer({ min: -5, max: 300 })), {
      minLength: 1,
    });
    fc.assert(
      fc.property(
        fc.array(steps, { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        (parts, isOneEach) => {
          const all = parts.flat().map((step, n) => ({ run: 1, step, rank: 0, value: n, n }));
          const seen = new Set<number>();
          const given = all.filter(({ step }) => !isOneEach || (!seen.has(step) && seen.add(step)));
          let start = 0;
          const chunks = parts.flatMap(({ length }) => {
            const own = given.filter(({ n }) => n >= start && n < start + length);
            start += length;
            return own.length === 0
              ? []
              : [chunkOf(own.toSorted((a, b) => a.step - b.step || a.n - b.n))];
          });
          const expected = given.toSorted((a, b) => a.step - b.step || a.n - b.n);
          const { xs, values } = pointsOf(chunks, () => Number.POSITIVE_INFINITY);
          expect([...xs]).toEqual(expected.map(({ step }) => step));
          expect([...values]).toEqual(expected.map(({ value }) => value));
        },
      ),
    );
  });

  test("of one step may be any number, of one rank and of many", () => {
    const own = Array.from({ length: 200_000 }, (_, n) => ({ run: 1, step: 1, rank: 0, value: n }));
    const first = { run: 1, step: 0, rank: 0, value: 7 };
    expect(series([first, ...own])).toHaveLength(200_001);
    for (const how of ["min", "max"] as const) {
      const ranks = own.map((one, rank) => ({ ...one, rank, how }));
      expect(series(ranks)).toEqual([[1, how === "min" ? 0 : 199_999]]);
    }
  });

  test("of a run end at its last step that counts", () => {
    const given = [1, 2].flatMap((run) =>
      [0, 1, 2].map((n) => ({ run, step: n + run, rank: 0, value: 10 * run + n })),
    );
    expect(series(given, (run) => (run === 1 ? 1 : Number.POSITIVE_INFINITY))).toEqual([
      [1, 10],
      [2, 20],
      [3, 21],
      [4, 22],
    ]);
    expect(series(given, () => -1)).toEqual([]);
  });

  test.each([
    ["mean", 2],
    ["sum", 6],
    ["min", 1],
    ["max", 3],
  ] as const)("of several ranks at one step are combined to one: the %s", (how, value) => {
    const ranks = [1, 2, 3].map((rank) => ({ run: 1, step: 5, rank, value: rank, how }));
    const alone = { run: 1, step: 6, rank: 2, value: 9, how };
    expect(series([...ranks, alone])).toEqual([
      [5, value],
      [6, 9],
    ]);
  });

  test("of a run end at its last step that counts, also in a part with unordered steps", () => {
    const at = (step: number) => ({ run: 1, step, rank: 0, value: step });
    expect(series([1, 5, 2, 6].map(at), () => 4)).toEqual([
      [1, 1],
      [2, 2],
    ]);
  });

  test("of one rank at one step are not combined", () => {
    const twice = [7, 8].map((value) => ({ run: 1, step: 5, rank: 0, value }));
    expect(series(twice)).toEqual([
      [5, 7],
      [5, 8],
    ]);
  });
});

/** Welford, Technometrics 1962. */
function oneByOne(points: readonly (readonly [number, number])[]) {
  const finite = points.map(([, y]) => y).filter(Number.isFinite);
  let [mean, squares] = [0, 0];
  for (const [before, y] of finite.entries()) {
    const distance = y - mean;
    mean += distance / (before + 1);
    squares += distance * (y - mean);
  }
  const none = finite.length === 0;
  return {
    mean: none ? Number.NaN : mean,
    deviation: none ? Number.NaN : Math.sqrt(squares / finite.length),
    first: points[0]?.[1],
    last: points.at(-1)?.[1],
  };
}

describe("buckets", () => {
  const value = fc.oneof(fc.nat(99), fc.constantFrom(Number.NaN, Infinity, -Infinity));
  const points = fc.array(fc.tuple(fc.nat(50), value), { minLength: 1, maxLength: 60 });
  const listed = (given: readonly (readonly [number, number])[]) => ({
    xs: Float64Array.from(given, ([x]) => x),
    values: Float64Array.from(given, ([, y]) => y),
  });

  test("contain every point once, with its extremes, and are no more than requested", () => {
    fc.assert(
      fc.property(points, fc.integer({ min: 1, max: 80 }), (given, buckets) => {
        const found = bucketsOf(listed(given), { from: null, to: null, buckets });
        const sum = (list: readonly number[]) => list.reduce((total, one) => total + one, 0);
        expect(found.xMin.length).toBeLessThanOrEqual(buckets);
        expect(sum(found.count)).toBe(given.length);
        expect(sum(found.nans)).toBe(given.filter(([, y]) => Number.isNaN(y)).length);
        const finite = given.map(([, y]) => y).filter(Number.isFinite);
        const known = (list: readonly number[]) => list.filter((one) => !Number.isNaN(one));
        expect(Math.min(...known(found.min))).toBe(Math.min(...finite));
        expect(Math.max(...known(found.max))).toBe(Math.max(...finite));
        expect(found.xMin).toEqual(found.xMin.toSorted((a, b) => a - b));
        for (const [i, count] of found.count.entries()) {
          const own = given.filter(([x]) => x >= (found.xMin[i] ?? 0) && x <= (found.xMax[i] ?? 0));
          expect(own.length).toBeGreaterThanOrEqual(count);
        }
      }),
    );
  });

  test("equal bit for bit the result of adding one point at a time, for any order of x", () => {
    const values = fc.oneof(fc.double(), value);
    const some = fc.array(fc.tuple(fc.nat(50), values), { minLength: 1, maxLength: 80 });
    fc.assert(
      fc.property(some, fc.integer({ min: 1, max: 9 }), fc.boolean(), (drawn, buckets, rising) => {
        const given = rising ? drawn.toSorted(([a], [b]) => a - b) : drawn;
        const found = bucketsOf(listed(given), { from: 0, to: 50, buckets });
        if (given.length <= buckets) return;
        const own = Map.groupBy(given, ([x]) =>
          Math.min(Math.floor(x * (buckets / 50)), buckets - 1),
        );
        const expected = [...own].sort(([a], [b]) => a - b).map(([, points]) => oneByOne(points));
        expect(found.mean).toEqual(expected.map(({ mean }) => mean));
        expect(found.deviation).toEqual(expected.map(({ deviation }) => deviation));
        expect(found.first).toEqual(expected.map(({ first }) => first));
        expect(found.last).toEqual(expected.map(({ last }) => last));
      }),
    );
  });

  test("of ascending x equal those of the points within the range", () => {
    const some = fc.array(fc.tuple(fc.nat(50), value), { maxLength: 80 });
    const end = fc.option(fc.nat(60));
    fc.assert(
      fc.property(some, end, end, fc.integer({ min: 1, max: 9 }), (drawn, from, to, buckets) => {
        const given = drawn.toSorted(([a], [b]) => a - b);
        const inside = given.filter(([x]) => x >= (from ?? 0) && x <= (to ?? 60));
        const found = bucketsOf(listed(given), { from, to, buckets });
        expect(found).toEqual(bucketsOf(listed(inside), { from, to, buckets }));
        const counted = found.count.reduce((sum, count) => sum + count, 0);
        expect(counted).toBe(inside.length);
      }),
    );
  });

  test("of lists that are added one after the other equal, to the bit, those of all points", () => {
    const x = fc.oneof(fc.nat(50), fc.constantFrom(Number.NaN, Infinity));
    const list = fc.array(fc.tuple(x, fc.oneof(fc.double(), value)), { maxLength: 20 });
    const lists = fc.array(fc.tuple(list, fc.boolean()), { maxLength: 6 });
    const end = fc.integer({ min: -5, max: 55 });
    fc.assert(
      fc.property(lists, end, end, fc.integer({ min: 1, max: 30 }), (drawn, from, to, buckets) => {
        const parts = drawn.map(([given, rising]) =>
          listed(rising ? given.toSorted(([a], [b]) => a - b) : given),
        );
        const joined = new JoinedBuckets({ from, to, buckets });
        for (const part of parts) joined.add(part);
        const all = joinPoints(parts);
        expect(joined.buckets()).toEqual(bucketsOf(all, { from, to, buckets }));
        for (const query of [
          { from, to: null, buckets },
          { from: null, to, buckets },
          { from: null, to: null, buckets },
        ]) {
          expect(bucketsOfStretches(parts, query)).toEqual(bucketsOf(all, query));
        }
      }),
    );
  });

  test("contain the statistics that a chart shows", () => {
    const given = [0, 1, 2, 3, 4, 5, 6, 7].map(
      (x) => [x, [4, 2, Number.NaN, 6][x % 4] ?? 0] as const,
    );
    const found = bucketsOf(listed(given), { from: 0, to: 8, buckets: 2 });
    const half = { min: 2, max: 6, mean: 4, first: 4, last: 6, count: 4, nans: 1, infinities: 0 };
    for (const i of [0, 1]) {
      const one = Object.fromEntries(Object.entries(found).map(([name, list]) => [name, list[i]]));
      expect(one).toMatchObject({ ...half, xMin: 4 * i, xMax: 4 * i + 3 });
      expect(one["deviation"]).toBeCloseTo(Math.sqrt(8 / 3));
    }
    expect(bucketsOf(listed(given), { from: 2, to: 3, buckets: 9 })).toMatchObject({
      xMin: [2, 3],
      min: [Number.NaN, 6],
      first: [Number.NaN, 6],
    });
  });

  test("of points with equal x are a single bucket", () => {
    const given = [1, 2, 3].map((y) => [5, y] as const);
    expect(bucketsOf(listed(given), { from: null, to: null, buckets: 2 }).count).toEqual([3]);
    expect(bucketsOf(joinPoints([]), { from: null, to: null, buckets: 2 }).count).toEqual([]);
  });
});
