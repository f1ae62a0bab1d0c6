import type { HyperparameterSpace, TypedHyperparameter } from "@trainyard/experiment-config";
import { gridSize } from "@trainyard/experiment-config";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { axesOf, coordinatesOf, placeOf, pointAt } from "./axes.ts";
import { gridPoint, sampledPoint } from "./space.ts";

const double: TypedHyperparameter = {
  type: "double",
  minval: 0,
  maxval: 0.3,
  step: 0.1,
  count: null,
};
const int: TypedHyperparameter = { type: "int", minval: 16, maxval: 100, step: 32, count: null };
const log: TypedHyperparameter = { type: "int", minval: 1, maxval: 1_000, log: true, count: null };

function sampled(x: TypedHyperparameter, trials = 2_000): number[] {
  return Array.from({ length: trials }, (_, i) => Number(sampledPoint({ x }, 7, i + 1)["x"]));
}

describe("a hyperparameter with a step", () => {
  it("has the values from minval in steps, with exact decimals", () => {
    expect([...new Set(sampled(double))].sort()).toEqual([0, 0.1, 0.2, 0.3]);
    expect([...new Set(sampled(int))].sort()).toEqual([16, 48, 80]);
  });

  it("has each value about equally often", () => {
    const counts = [16, 48, 80].map((value) => sampled(int).filter((one) => one === value).length);
    for (const count of counts) expect(Math.abs(count - 667)).toBeLessThan(80);
  });

  it("is a grid axis of all its values, or of count values", () => {
    const values = (x: TypedHyperparameter): unknown[] =>
      Array.from({ length: gridSize({ x }) }, (_, i) => gridPoint({ x }, i)["x"]);
    expect(values(double)).toEqual([0, 0.1, 0.2, 0.3]);
    expect(values(int)).toEqual([16, 48, 80]);
    expect(values({ ...int, count: 2 })).toEqual([16, 80]);
    expect(values({ ...int, count: 9 })).toEqual([16, 48, 80]);
    expect(values({ ...int, count: 1 })).toEqual([48]);
  });
});

describe("an int on a logarithmic scale", () => {
  it("is below the middle of its logarithms as often as above", () => {
    const values = sampled(log);
    expect(values.every((value) => Number.isInteger(value) && value >= 1 && value <= 1_000)).toBe(
      true,
    );
    const below = values.filter((value) => value < 22).length;
    expect(Math.abs(below - 1_000)).toBeLessThan(100);
    expect(new Set(sampled({ ...log, maxval: 4 }))).toEqual(new Set([1, 2, 3, 4]));
  });
});

it("a point of stepped and logarithmic hyperparameters maps to its place and back", () => {
  const space: HyperparameterSpace = {
    double,
    int,
    log,
    fine: { ...double, step: 0.000_1 },
  };
  const axes = axesOf(space);
  expect(axes.map(({ cells }) => cells)).toEqual([4, 3_001, 3, 0]);
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 0.999_999, noNaN: true }), { minLength: 4, maxLength: 4 }),
      (coordinates) => {
        const point = pointAt(space, coordinates);
        expect(pointAt(space, coordinatesOf(axes, placeOf(axes, point)))).toEqual(point);
      },
    ),
  );
});
