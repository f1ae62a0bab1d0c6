import type { HyperparameterSpace } from "@trainyard/experiment-config";
import { draw } from "@trainyard/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { axesOf } from "../../space/axes.ts";
import { jointPlace, placeByAxis } from "./candidates.ts";
import { boxOf, densityAt, densityOnAxis, type Estimator, estimatorOf } from "./estimator.ts";
import type { Sample } from "./split.ts";

const space: HyperparameterSpace = {
  a: { type: "double", minval: 0, maxval: 1, count: null },
  b: { type: "int", minval: 1, maxval: 5, count: null },
  c: { type: "categorical", vals: ["x", "y", "z"] },
  d: { type: "double", minval: 0, maxval: 1, count: null },
};
const box = boxOf(axesOf(space));

function sampleOf(seed: number, count: number, stream: string): Sample {
  const at = (axis: string, i: number): number => draw(seed, `${stream}/${axis}`, i);
  return {
    trials: Array.from({ length: count }, (_, i) => i + 1),
    places: Array.from({ length: count }, (_, i) => [
      at("a", i),
      Math.floor(at("b", i) * 5),
      Math.floor(at("c", i) * 3),
      at("d", i),
    ]),
    weights: Float64Array.from({ length: count }, (_, i) => 0.2 + at("w", i)),
  };
}

/** Random pairs of estimators, with the data that they were built from. */
const estimators = fc
  .record({
    seed: fc.nat({ max: 10_000 }),
    good: fc.integer({ min: 0, max: 12 }),
    others: fc.integer({ min: 0, max: 60 }),
  })
  .map(({ seed, good, others }) => ({
    seed,
    good: estimatorOf(box, sampleOf(seed, good, "good")),
    others: estimatorOf(box, sampleOf(seed, others, "others")),
  }));

const ratioAt = (good: Estimator, others: Estimator, place: readonly number[]): number =>
  densityAt(good, place) / densityAt(others, place);

describe("candidates", () => {
  it("include the chosen place, which has the largest ratio of the joint densities", () => {
    fc.assert(
      fc.property(estimators, ({ seed, good, others }) => {
        const drawn: number[][] = [];
        const chance = { seed, trial: 7, candidates: 12 };
        const best = jointPlace(good, others, chance, (place) => {
          drawn.push(place);
          return place;
        });
        const ratios = drawn.map((place) => ratioAt(good, others, place));
        const first = drawn[ratios.indexOf(Math.max(...ratios))];
        expect(best).toEqual(first);
      }),
      { numRuns: 60 },
    );
  });

  it("on an axis include the chosen value, which has the largest ratio there", () => {
    fc.assert(
      fc.property(estimators, ({ seed, good, others }) => {
        const few = placeByAxis(good, others, { seed, trial: 0, candidates: 1 });
        const more = placeByAxis(good, others, { seed, trial: 0, candidates: 9 });
        for (const [index, place] of more.entries()) {
          const ratio = (at: number): number =>
            densityOnAxis(good, index, at) / densityOnAxis(others, index, at);
          // With trial 0, the first candidate of both calls is the same draw.
          expect(ratio(place)).toBeGreaterThanOrEqual(ratio(few[index] as number));
          expect(place).toBeGreaterThanOrEqual(0);
          expect(place).toBeLessThan([1, 5, 3, 1][index] as number);
        }
      }),
      { numRuns: 40 },
    );
  });

  it("yield no place if all are refused", () => {
    const empty = estimatorOf(box, sampleOf(1, 0, "none"));
    const chance = { seed: 1, trial: 1, candidates: 4 };
    expect(jointPlace(empty, empty, chance, () => null)).toBeNull();
  });

  it("have densities that sum to one on each axis, the prior's share included", () => {
    const estimator = estimatorOf(box, sampleOf(3, 9, "sum"));
    const whole = estimator.weights.reduce((sum, weight) => sum + weight, 1);
    const cells = (index: number, count: number): number =>
      Array.from({ length: count }, (_, cell) => densityOnAxis(estimator, index, cell)).reduce(
        (sum, mass) => sum + mass,
      );
    expect(cells(1, 5)).toBeCloseTo(whole, 9);
    expect(cells(2, 3)).toBeCloseTo(whole, 9);
    const steps = 20_000;
    let area = 0;
    for (let i = 0; i < steps; i += 1) area += densityOnAxis(estimator, 0, (i + 0.5) / steps);
    expect(area / steps).toBeCloseTo(whole, 4);
  });
});
