import type { HyperparameterSpace, JsonObject } from "@trainyard/experiment-config";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { configOf, DrivenSearch } from "../testing/searches.ts";
import { explored } from "./explore.ts";
import { pbtOf } from "../testing/population.ts";

const range = (minval: number, maxval: number) => ({ minval, maxval, count: null });
const space: HyperparameterSpace = {
  lr: { type: "log", base: 10, ...range(-4, -1) },
  small: { type: "log", base: 0.5, ...range(1, 3) },
  momentum: { type: "double", ...range(-1, 1) },
  layers: { type: "int", ...range(-2, 6) },
  optimizer: { name: { type: "categorical", vals: ["sgd", "adam", "lamb"] } },
  fixed: { type: "const", val: 7 },
};
const donor: JsonObject = {
  lr: 0.01,
  small: 0.25,
  momentum: 0.5,
  layers: 3,
  optimizer: { name: "adam" },
  fixed: 7,
};

function planOf(seed: number, resample_probability: number, mutate: string[] = []) {
  const search = new DrivenSearch();
  const config = pbtOf({ resample_probability, mutate });
  search.start(configOf(config, space), seed);
  const { plan } = search.state;
  if (plan === null) throw new Error("the search has started");
  return { plan, config };
}

function copies(from: JsonObject, resample = 0, mutate: string[] = [], trials = 60): JsonObject[] {
  const { plan, config } = planOf(3, resample, mutate);
  return Array.from(
    { length: trials },
    (_, n) => explored(plan, config, from, n + 1).hyperparameters,
  );
}

const valuesOf = (points: readonly JsonObject[], of: (point: JsonObject) => unknown) =>
  [...new Set(points.map(of))].sort();
const optimizerOf = ({ optimizer }: JsonObject) => (optimizer as JsonObject)["name"];

describe("explore", () => {
  it("multiplies numbers by the factors, and moves choices to a neighbour", () => {
    const points = copies(donor);
    expect(valuesOf(points, ({ lr }) => lr)).toEqual([0.008, 0.012]);
    expect(valuesOf(points, ({ momentum }) => momentum)).toEqual([0.4, 0.6]);
    expect(valuesOf(points, ({ layers }) => layers)).toEqual([2, 4]);
    expect(valuesOf(points, optimizerOf)).toEqual(["lamb", "sgd"]);
    expect(valuesOf(points, ({ fixed }) => fixed)).toEqual([7]);
  });

  it("keeps values within their bounds, and choices at an end may stay", () => {
    const points = copies({
      ...donor,
      lr: 0.1,
      small: 0.5,
      momentum: -1,
      optimizer: { name: "lamb" },
    });
    expect(valuesOf(points, ({ lr }) => Number(lr).toFixed(6))).toEqual(["0.080000", "0.100000"]);
    expect(valuesOf(points, ({ small }) => small)).toEqual([0.4, 0.5]);
    expect(valuesOf(points, ({ momentum }) => momentum)).toEqual([-0.8, -1]);
    expect(valuesOf(points, optimizerOf)).toEqual(["adam", "lamb"]);
  });

  it("moves a whole number by at least one, and growing means away from zero", () => {
    expect(valuesOf(copies({ ...donor, layers: 1 }), ({ layers }) => layers)).toEqual([0, 2]);
    expect(valuesOf(copies({ ...donor, layers: 0 }), ({ layers }) => layers)).toEqual([-1, 1]);
    expect(valuesOf(copies({ ...donor, layers: -1 }), ({ layers }) => layers)).toEqual([-2, 0]);
    expect(valuesOf(copies({ ...donor, layers: 6 }), ({ layers }) => layers)).toEqual([4, 6]);
  });

  it("draws hyperparameters again with resample_probability", () => {
    const changed = copies(donor, 0.25, [], 400).filter(({ lr }) => lr !== 0.008 && lr !== 0.012);
    expect(changed.length).toBeGreaterThan(70);
    expect(changed.length).toBeLessThan(130);
    expect(copies(donor, 1).filter(({ lr }) => lr === 0.008 || lr === 0.012)).toEqual([]);
  });

  it("changes only the configured hyperparameters, also nested ones", () => {
    const { plan, config } = planOf(3, 0.5, ["layers", "optimizer"]);
    for (let trial = 1; trial <= 20; trial += 1) {
      const { hyperparameters, changes } = explored(plan, config, donor, trial);
      expect(hyperparameters).toMatchObject({ lr: 0.01, small: 0.25, momentum: 0.5 });
      expect(changes.map(({ hyperparameter }) => hyperparameter)).toEqual([
        "layers",
        "optimizer.name",
      ]);
    }
  });

  it("returns points of the space, the same for the same seed and trial", () => {
    fc.assert(
      fc.property(
        fc.nat(),
        fc.nat({ max: 5_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (seed, trial, resample) => {
          const { plan, config } = planOf(seed, resample);
          let point = donor;
          for (let n = 1; n <= 12; n += 1)
            point = explored(plan, config, point, trial + n).hyperparameters;
          const { lr, small, momentum, layers } = point as Record<string, number>;
          expect(lr).toBeGreaterThanOrEqual(1e-4);
          expect(lr).toBeLessThanOrEqual(0.1);
          expect(small).toBeGreaterThanOrEqual(0.125);
          expect(small).toBeLessThanOrEqual(0.5);
          expect(Math.abs(momentum ?? 2)).toBeLessThanOrEqual(1);
          expect([-2, -1, 0, 1, 2, 3, 4, 5, 6]).toContain(layers);
          expect(["sgd", "adam", "lamb"]).toContain(optimizerOf(point));
          expect(explored(plan, config, donor, trial)).toEqual(
            explored(plan, config, donor, trial),
          );
        },
      ),
      { numRuns: 50 },
    );
  });

  it("satisfies the constraints, and adds or removes conditional hyperparameters", () => {
    const search = new DrivenSearch();
    const config = pbtOf({ resample_probability: 0.3 });
    const conditional: HyperparameterSpace = {
      lr: { type: "double", ...range(0, 1) },
      name: { type: "categorical", vals: ["sgd", "adam"] },
      momentum: { type: "double", ...range(0, 1), when: { "/name": ["sgd"] } },
    };
    const constraints = ["lr < 0.5"];
    search.start(configOf({ ...config, constraints }, conditional), 3);
    const { plan } = search.state;
    if (plan === null) throw new Error("the search has started");
    let point: JsonObject = { lr: 0.45, name: "sgd", momentum: 0.5 };
    const names = new Set<unknown>();
    for (let trial = 1; trial <= 60; trial += 1) {
      const found = explored(plan, config, point, trial);
      point = found.hyperparameters;
      names.add(point["name"]);
      expect(point["lr"]).toBeLessThan(0.5);
      expect(point["momentum"] !== undefined).toBe(point["name"] === "sgd");
      if (point["name"] === "adam") {
        expect(found.changes.map(({ hyperparameter }) => hyperparameter)).not.toContain("momentum");
      }
    }
    expect(names).toEqual(new Set(["sgd", "adam"]));
  });

  it("returns the donor's point if no point near it satisfies the constraints", () => {
    const search = new DrivenSearch();
    const config = pbtOf({ resample_probability: 0 });
    const one: HyperparameterSpace = { lr: { type: "double", ...range(0, 1) } };
    search.start(configOf({ ...config, constraints: ["lr >= 0.5", "lr <= 0.5"] }, one), 3);
    const { plan } = search.state;
    if (plan === null) throw new Error("the search has started");
    expect(explored(plan, config, { lr: 0.5 }, 1)).toEqual({
      hyperparameters: { lr: 0.5 },
      changes: [],
    });
  });
});
