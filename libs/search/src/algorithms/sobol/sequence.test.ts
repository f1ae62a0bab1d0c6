import { describe, expect, it } from "vitest";
import { scrambled, sobolCoordinate, sobolDimension, sobolDimensionsMax } from "./sequence.ts";

/** Reference points from SciPy 1.17: `qmc.Sobol(128, scramble=False, bits=32)`, times 2^32. */
const dimensions = [0, 1, 2, 5, 20, 63, 127];
const points: readonly (readonly [index: number, ...coordinates: number[]])[] = [
  [0, 0, 0, 0, 0, 0, 0, 0],
  [1, 2147483648, 2147483648, 2147483648, 2147483648, 2147483648, 2147483648, 2147483648],
  [2, 3221225472, 1073741824, 1073741824, 3221225472, 1073741824, 3221225472, 1073741824],
  [3, 1073741824, 3221225472, 3221225472, 1073741824, 3221225472, 1073741824, 3221225472],
  [5, 3758096384, 3758096384, 536870912, 2684354560, 2684354560, 2684354560, 536870912],
  [6, 2684354560, 536870912, 3758096384, 3758096384, 1610612736, 3758096384, 3758096384],
  [100, 1778384896, 1107296256, 3321888768, 3187671040, 3254779904, 2785017856, 1979711488],
  [1023, 4194304, 3233808384, 2629828608, 1883242496, 3720347648, 171966464, 3007315968],
  [2047, 2097152, 2694840320, 3999268864, 2824863744, 1537212416, 4246732800, 94371840],
];

describe("the Sobol sequence", () => {
  it.each(points)("equals SciPy's sequence at point %i", (index, ...coordinates) => {
    expect(dimensions.map((d) => sobolCoordinate(sobolDimension(d), index))).toEqual(coordinates);
  });
});

describe("the scrambled sequence", () => {
  const all = Array.from({ length: sobolDimensionsMax }, (_, d) =>
    scrambled(sobolDimension(d), 7, `d${d}`),
  );

  it("has, in each dimension, one of its first 2^k points in each of 2^k intervals", () => {
    for (const dimension of all) {
      for (const k of [1, 4, 8]) {
        const cells = Array.from(
          { length: 2 ** k },
          (_, n) => sobolCoordinate(dimension, n) >>> (32 - k),
        );
        expect(new Set(cells).size).toBe(2 ** k);
      }
    }
  });

  it("has one of its first 64 points in each of 8 × 8 squares of the first two dimensions", () => {
    const [x, y] = all;
    if (x === undefined || y === undefined) throw new Error("there are two dimensions");
    const squares = Array.from(
      { length: 64 },
      (_, n) => (sobolCoordinate(x, n) >>> 29) * 8 + (sobolCoordinate(y, n) >>> 29),
    );
    expect(new Set(squares).size).toBe(64);
  });

  it("is a function of the seed, different for each seed", () => {
    const one = scrambled(sobolDimension(3), 1, "a");
    expect(scrambled(sobolDimension(3), 1, "a")).toEqual(one);
    expect(scrambled(sobolDimension(3), 2, "a")).not.toEqual(one);
    expect(scrambled(sobolDimension(3), 1, "b")).not.toEqual(one);
  });
});
