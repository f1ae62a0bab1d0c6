import { describe, expect, it } from "vitest";
import {
  adaptiveOf,
  ashaOf,
  asyncHalvingOf,
  autoOf,
  bohbOf,
  hyperbandOf,
  timesAskedFor,
} from "./testing/halving.ts";
import { pbtOf } from "./testing/population.ts";
import { previewSearch } from "./preview.ts";
import { gridOf, randomOf } from "./testing/searches.ts";

describe("the preview of a search", () => {
  it("counts the trials that end at each rung, by bracket and in total", () => {
    const config = adaptiveOf({ max_time: 64, max_trials: 100, divisor: 4 });
    expect(previewSearch(config, {})).toEqual({
      rungs: [
        { bracket: 0, units: 1, trials: 53 },
        { bracket: 0, units: 4, trials: 13 },
        { bracket: 0, units: 16, trials: 3 },
        { bracket: 0, units: 64, trials: 1 },
        { bracket: 1, units: 4, trials: 17 },
        { bracket: 1, units: 16, trials: 4 },
        { bracket: 1, units: 64, trials: 1 },
        { bracket: 2, units: 16, trials: 6 },
        { bracket: 2, units: 64, trials: 2 },
      ],
      total: [
        { units: 1, trials: 53 },
        { units: 4, trials: 30 },
        { units: 16, trials: 13 },
        { units: 64, trials: 4 },
      ],
    });
  });

  it("is the same for auto and bohb as for asha", () => {
    const bohb = bohbOf({ max_time: 27, max_trials: 90 });
    const asha = previewSearch(ashaOf({ max_time: 27, max_trials: 90 }), {});
    expect(previewSearch(bohb, {})).toEqual(asha);
    expect(previewSearch(autoOf({ max_time: 27, max_trials: 90 }), {})).toEqual(asha);
  });

  it("counts full trainings if the searcher stops no trial", () => {
    expect(previewSearch(randomOf(7, 2), {}).total).toEqual([{ units: null, trials: 7 }]);
    const space = { a: { type: "int", minval: 0, maxval: 10, count: 4 } } as const;
    expect(previewSearch(gridOf(2), space).total).toEqual([{ units: null, trials: 4 }]);
  });

  it("counts a population's members with one training each, and a schedule as one training", () => {
    expect(previewSearch(pbtOf(), {}).total).toEqual([{ units: 40, trials: 4 }]);
    const schedule = [
      { until: 10, hyperparameters: {}, seed: null },
      { until: 30, hyperparameters: {}, seed: null },
    ];
    const { metric, smaller_is_better, time_metric } = pbtOf();
    const searcher = {
      name: "schedule",
      metric,
      smaller_is_better,
      time_metric,
      schedule,
    } as const;
    expect(previewSearch({ ...searcher, schedule: [...schedule] }, {}).rungs).toEqual([
      { units: 30, trials: 1, bracket: 0 },
    ]);
  });

  it("equals the training of a search without failures", () => {
    for (const config of [
      ashaOf({ max_trials: 40 }),
      asyncHalvingOf({ resume: true }),
      adaptiveOf({ resume: true, max_trials: 30 }),
      hyperbandOf(),
    ]) {
      const ends = new Map<number, number>();
      // Earlier trials are better, since otherwise rungs would promote more than their share at times.
      for (const times of timesAskedFor(config, (trial) => ({ value: trial }))) {
        const end = times.at(-1) ?? 0;
        ends.set(end, (ends.get(end) ?? 0) + 1);
      }
      const total = [...ends].map(([units, trials]) => ({ units, trials }));
      total.sort((a, b) => a.units - b.units);
      expect(total, config.name).toEqual(previewSearch(config, {}).total);
    }
  });
});
