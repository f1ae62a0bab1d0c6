import type { HalvingSearcher } from "@trainyard/experiment-config";
import { draw } from "@trainyard/kernel";
import { describe, expect, it } from "vitest";
import { axesOf, placeOf } from "../../space/axes.ts";
import type { Halving } from "../../halving/state.ts";
import { ashaOf, autoOf, bohbOf, halvingOf, startedSearch } from "../../testing/halving.ts";
import { runSearch } from "../../simulation/run.ts";
import { configOf, type DrivenSearch, spaceOfTwo } from "../../testing/searches.ts";
import { densityAt, densityOf, placeFrom, spreadWidth } from "./density.ts";
import { comparedAt, rankedAt, rankedFrom } from "./ranked-trials.ts";

const axes = axesOf({
  lr: { type: "log", minval: -4, maxval: -1, base: 10, count: null },
  op: { type: "categorical", vals: ["a", "b", "c"] },
  units: { type: "int", minval: 1, maxval: 8, count: null },
});
const sample = {
  places: [
    [0.2, 1, 3],
    [0.25, 1, 4],
    [0.9, 0, 0],
  ],
  weights: [1, 1, 1],
};

describe("a density over the axes", () => {
  const density = densityOf(axes, sample, spreadWidth, 1e-3);

  it("has a mean of one over the whole box", () => {
    let sum = 0;
    const points = 40_000;
    for (let i = 0; i < points; i += 1) {
      const share = (stream: string): number => draw(1, stream, i);
      sum += densityAt(density, [
        share("lr"),
        Math.floor(3 * share("op")),
        Math.floor(8 * share("units")),
      ]);
    }
    expect(sum / points).toBeCloseTo(1, 1);
  });

  it("is larger nearer to its places", () => {
    expect(densityAt(density, [0.22, 1, 3])).toBeGreaterThan(densityAt(density, [0.6, 2, 7]));
  });

  it("yields places that are on the axes", () => {
    for (let i = 0; i < 500; i += 1) {
      const [lr = -1, op = -1, units = -1] = placeFrom(density, 3, (j) => draw(2, `${j}`, i));
      expect(lr >= 0 && lr < 1).toBe(true);
      expect([0, 1, 2]).toContain(op);
      expect(Number.isInteger(units) && units >= 0 && units < 8).toBe(true);
    }
  });
});

/** Returns a search whose trials reported these values at rungs 0, 1, … */
function withValues(values: Readonly<Record<number, readonly number[]>>): Halving {
  const search: DrivenSearch = startedSearch(autoOf({ max_trials: 12, max_concurrent_trials: 12 }));
  const times = [1, 3, 9];
  for (const rung of [0, 1, 2]) {
    for (const [trial, brought] of Object.entries(values)) {
      const value = brought[rung];
      if (value !== undefined) search.validate(Number(trial), times[rung] ?? 0, value);
    }
  }
  return halvingOf(search);
}

describe("the trials of a rung", () => {
  // The best three of the ten trials continue to the next rung.
  const halving = withValues({
    1: [5],
    2: [1, 9],
    3: [3, 2],
    4: [4],
    5: [2, Number.NaN],
    6: [Number.NaN],
    7: [6],
    8: [7],
    9: [8],
    10: [9],
  });

  it("are ranked by their values at the rung, without values that are not finite", () => {
    expect([...rankedAt(halving, 0)]).toEqual([2, 5, 3, 4, 1, 7, 8, 9, 10]);
    expect(comparedAt(halving, 0)).toBe(9);
  });

  it("are ranked by their later values, within the positions of the promoted trials", () => {
    expect([...rankedFrom(halving, 0)]).toEqual([3, 2, 4, 1, 7, 8, 9, 10]);
  });
});

describe.each([
  ["auto", autoOf({ max_trials: 150, max_time: 27, max_concurrent_trials: 8 })],
  ["bohb", bohbOf({ max_trials: 150, max_time: 27, max_concurrent_trials: 8 })],
] as const)("a search by %s", (name, searcher) => {
  const run = (seed: number) =>
    runSearch({
      config: configOf(searcher, spaceOfTwo),
      seed,
      workers: 8,
      world: ({ hyperparameters = {} }) => {
        const [lr = 0, units = 0] = placeOf(axesOf(spaceOfTwo), hyperparameters);
        const final = (lr - 0.3) ** 2 + (units / 61 - 0.7) ** 2;
        return { hyperparameters, steps: 27, stepTime: 1, valueAt: (step) => final + 1 / step };
      },
    });

  it("the model proposes increasingly good points, and its evidence names the rung", () => {
    const { events, state } = run(1);
    const proposals = events.flatMap((event) =>
      event.type === "TrialProposed" ? [event.data] : [],
    );
    const byModel = proposals.filter(({ origin }) => origin === "model");
    expect(byModel.length).toBeGreaterThan(proposals.length / 2);
    expect(byModel.length).toBeLessThan((proposals.length * 9) / 10);
    expect(proposals.slice(0, 8).every(({ origin }) => origin === "drawn")).toBe(true);
    expect(byModel.at(-1)?.evidence).toMatchObject({
      rung: expect.any(Number),
      units: expect.any(Number),
      results: expect.any(Number),
      good: expect.any(Number),
    });
    const regret = ({ hyperparameters = {} }: (typeof proposals)[number]): number => {
      const [lr = 0, units = 0] = placeOf(axesOf(spaceOfTwo), hyperparameters);
      return (lr - 0.3) ** 2 + (units / 61 - 0.7) ** 2;
    };
    const mean = (some: typeof proposals): number =>
      some.reduce((sum, proposal) => sum + regret(proposal), 0) / some.length;
    const drawn = proposals.filter(({ origin }) => origin === "drawn");
    expect(mean(byModel), name).toBeLessThan(mean(drawn) / 2);
    expect(state.phase).toBe("completed");
  });

  it("the same seed decides the same events", () => {
    expect(run(3).events).toEqual(run(3).events);
  });
});

describe("a search by auto", () => {
  const proposalsOf = (searcher: HalvingSearcher) => {
    const { events } = runSearch({
      config: configOf(searcher, spaceOfTwo),
      seed: 4,
      workers: 8,
      world: ({ hyperparameters = {} }) => {
        const [lr = 0] = placeOf(axesOf(spaceOfTwo), hyperparameters);
        return { hyperparameters, steps: 27, stepTime: 1, valueAt: (step) => lr + 1 / step };
      },
    });
    return events.flatMap((event) => (event.type === "TrialProposed" ? [event.data] : []));
  };
  const size = { max_trials: 80, max_time: 27, max_concurrent_trials: 8 };

  it("draws like ASHA until enough trials are above the lowest rung", () => {
    const ours = proposalsOf(autoOf(size));
    const drawn = ours.findIndex(({ origin }) => origin === "model");
    expect(drawn).toBeGreaterThan(20);
    const points = (some: typeof ours) => some.map(({ hyperparameters }) => hyperparameters);
    expect(points(ours.slice(0, drawn))).toEqual(points(proposalsOf(ashaOf(size)).slice(0, drawn)));
    for (const { origin, evidence } of ours) {
      if (origin === "model") expect(evidence?.["rung"]).toBeGreaterThan(0);
    }
  });

  it("uses the lowest rung if a training is too short for more rungs", () => {
    const short = proposalsOf(autoOf({ ...size, max_time: 1 }));
    expect(short.some(({ origin }) => origin === "model")).toBe(true);
  });
});
