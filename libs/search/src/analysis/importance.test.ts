import type { HyperparameterSpace, JsonObject } from "@trainyard/experiment-config";
import { describe, expect, it } from "vitest";
import { sampledPoint } from "../space/space.ts";
import { type Importances, importancesOf } from "./importance.ts";
import { SearchRecord } from "./record.ts";

const space: HyperparameterSpace = {
  net: { lr: { type: "log", minval: -5, maxval: 0, base: 10, count: null } },
  width: { type: "int", minval: 1, maxval: 64, count: null },
  kind: { type: "categorical", vals: ["a", "b", "c"] },
  noise: { type: "double", minval: 0, maxval: 1, count: null },
  same: { type: "const", val: 3 },
};

function importances(
  count: number,
  valueOf: (point: JsonObject) => number,
  smallerIsBetter = true,
  seed = 3,
): Importances {
  const record = new SearchRecord();
  record.space = space;
  record.smallerIsBetter = smallerIsBetter;
  for (let trial = 1; trial <= count; trial += 1) {
    const hyperparameters = sampledPoint(space, seed, trial);
    const best = valueOf(hyperparameters);
    record.trials.push({
      trial,
      hyperparameters,
      best,
      values: null,
      time: 1,
      counts: true,
      failed: false,
    });
  }
  return importancesOf(record);
}

const lrOf = (point: JsonObject): number => Math.log10(Number((point["net"] as JsonObject)["lr"]));

describe("importance", () => {
  it("is 1 for a hyperparameter that alone matters", () => {
    const byLr = importances(200, (point) => (lrOf(point) + 2) ** 2);
    expect(byLr.items.map(({ hyperparameter }) => hyperparameter).sort()).toEqual([
      "kind",
      "net.lr",
      "noise",
      "width",
    ]);
    expect(byLr.items[0]).toMatchObject({ hyperparameter: "net.lr" });
    expect(byLr.items[0]?.importance).toBeGreaterThan(0.75);
    const byKind = importances(200, (point) => (point["kind"] === "b" ? 0 : 1));
    expect(byKind.items[0]).toMatchObject({ hyperparameter: "kind" });
    const byWidth = importances(200, (point) => Number(point["width"]));
    expect(byWidth.items[0]).toMatchObject({ hyperparameter: "width" });
  });

  it("sums to 1, and follows the order of the coefficients of a sum", () => {
    const { items, trials, top } = importances(
      400,
      (point) => 3 * (lrOf(point) + 2) ** 2 + (Number(point["width"]) / 64) ** 2,
    );
    expect(items.reduce((sum, { importance }) => sum + importance, 0)).toBeCloseTo(1, 12);
    expect(items.map(({ hyperparameter }) => hyperparameter).slice(0, 2)).toEqual([
      "net.lr",
      "width",
    ]);
    expect({ trials, top }).toEqual({ trials: 400, top: 40 });
  });

  it("finds the best trials also if larger is better", () => {
    const least = importances(200, (point) => Number(point["noise"]), false);
    expect(least.items[0]).toMatchObject({ hyperparameter: "noise" });
  });

  it("is empty for too few trials", () => {
    expect(importances(19, lrOf)).toEqual({ trials: 19, needed: 20, top: 0, items: [] });
    expect(importances(20, lrOf).items).toHaveLength(4);
  });

  it("ignores trials without a value and trials with invalid hyperparameters", () => {
    const record = new SearchRecord();
    record.space = space;
    for (let trial = 1; trial <= 40; trial += 1) {
      const hyperparameters = sampledPoint(space, 3, trial);
      const best = trial % 2 === 0 ? null : lrOf(hyperparameters);
      record.trials.push({
        trial,
        hyperparameters,
        best,
        values: null,
        time: 1,
        counts: trial % 4 !== 1,
        failed: false,
      });
    }
    expect(importancesOf(record)).toMatchObject({ trials: 10, items: [] });
  });
});
