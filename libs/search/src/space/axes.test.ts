import type { HyperparameterSpace } from "@trainyard/experiment-config";
import { describe, expect, it } from "vitest";
import { axesOf, coordinatesOf, placeOf, pointAt } from "./axes.ts";
import { sampledPoint } from "./space.ts";

const space: HyperparameterSpace = {
  b: { type: "log", minval: -3, maxval: 2, base: 2, count: null },
  a: { type: "double", minval: -5, maxval: 5, count: null },
  one: { type: "categorical", vals: ["only"] },
  nest: {
    few: { type: "int", minval: -2, maxval: 2, count: null },
    many: { type: "int", minval: 0, maxval: 9_999, count: null },
    choice: { type: "categorical", vals: [{ x: 1, y: [1, 2] }, "text", null, 4] },
  },
  fixed: { type: "const", val: 1 },
};
const axes = axesOf(space);

describe("the axes of a space", () => {
  it("are the hyperparameters with a choice, in the order of sorted keys", () => {
    expect(axes.map(({ keys, cells }) => [keys.join("."), cells])).toEqual([
      ["a", 0],
      ["b", 0],
      ["nest.choice", 4],
      ["nest.few", 5],
      ["nest.many", 10_000],
    ]);
  });

  it("map each point of random search to a place that maps back to the same point", () => {
    for (let trial = 1; trial <= 200; trial += 1) {
      const point = sampledPoint(space, 5, trial);
      const place = placeOf(axes, point);
      const back = pointAt(space, coordinatesOf(axes, place));
      const { a, b, nest } = point as { a: number; b: number; nest: object };
      expect(back).toMatchObject({ nest, one: "only", fixed: 1 });
      expect(back["a"]).toBeCloseTo(a, 12);
      expect(back["b"]).toBeCloseTo(b, 12);
    }
  });

  it("recognise a choice whatever the order of its keys", () => {
    expect(placeOf(axes, { nest: { choice: { y: [1, 2], x: 1 } } })[2]).toBe(0);
    expect(placeOf(axes, { nest: { choice: 4 } })[2]).toBe(3);
  });

  it("map values outside an axis to its nearest end, and missing values to the middle", () => {
    expect(placeOf(axes, {})).toEqual([0.5, 0.5, 2, 2, 0.5]);
    expect(placeOf(axes, { a: 9, nest: { few: 7 } })).toEqual([1, 0.5, 2, 4, 0.5]);
  });
});
