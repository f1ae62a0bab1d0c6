/** The promises about progress, over the histories of whole searches that are run in virtual time. */
import { TrialOutcome } from "@trainyard/contracts/events";
import type { SearcherConfig } from "@trainyard/experiment-config";
import { describe, expect, test } from "vitest";
import { ashaOf, asyncHalvingOf } from "../testing/halving.ts";
import {
  type LossOrder,
  type Moment,
  populationMoments,
  simulatedMoments,
} from "../testing/progress.ts";
import { gridOf, randomOf, singleOf, spaceOfTwo } from "../testing/searches.ts";
import {
  emptyTally,
  endedPlace,
  moved,
  newPlace,
  progressOf,
  reportedPlace,
  type TrialPlace,
  unitPlanOf,
} from "./index.ts";

/** The largest error of the progress at the tenths of the units that the finished search had trained, in points. */
function worstError(moments: readonly Moment[]): number {
  const { trained: all = 0 } = moments.at(-1) ?? {};
  const errors = Array.from({ length: 9 }, (_, i) => {
    const share = (i + 1) / 10;
    const at = moments.find(({ trained }) => trained >= share * all - 1e-9);
    return 100 * Math.abs((at?.progress ?? 0) - (at?.trained ?? 0) / all);
  });
  return Math.max(...errors);
}

const gridSpace = {
  lr: { type: "double", minval: 0, maxval: 1, count: 4 },
  width: { type: "int", minval: 1, maxval: 3, count: 3 },
} as const;

const seeds = Array.from({ length: 20 }, (_, i) => i + 1);

describe("at each tenth of the units that the finished search took, the progress is that tenth", () => {
  const cases: readonly (readonly [string, SearcherConfig, number, number])[] = [
    ["single", { ...singleOf, max_time: 40 } as SearcherConfig, 1, 5],
    ["random", { ...randomOf(12, 4), max_time: 40 } as SearcherConfig, 4, 5],
    ["grid", { ...gridOf(4), max_time: 40 } as SearcherConfig, 4, 5],
    ["asha of 81 trials", ashaOf({ max_trials: 81, max_time: 27 }), 8, 15],
    ["asha that stops", ashaOf({ max_trials: 81, max_time: 27, resume: false }), 8, 15],
    ["async_halving", asyncHalvingOf({ max_trials: 48, max_time: 27 }), 8, 15],
  ];
  test.each(cases)("%s", (_name, searcher, workers, within) => {
    const space = searcher.name === "grid" ? gridSpace : spaceOfTwo;
    const errors = seeds.map((seed) =>
      worstError(simulatedMoments(searcher, { seed, workers }, space)),
    );
    expect(Math.max(...errors)).toBeLessThanOrEqual(within);
  });

  test("pbt", () => {
    const errors = seeds.map((seed) => worstError(populationMoments(seed)));
    expect(Math.max(...errors)).toBeLessThanOrEqual(15);
  });
});

describe("over halving searches of 1 to 81 trials, seeds and orders, at every tenth of the units", () => {
  const forms: readonly (readonly [string, (trials: number) => SearcherConfig])[] = [
    ["asha searches", (trials) => ashaOf({ max_trials: trials, max_time: 27 })],
    [
      "asha searches that stop",
      (trials) => ashaOf({ max_trials: trials, max_time: 27, resume: false }),
    ],
    ["async_halving searches", (trials) => asyncHalvingOf({ max_trials: trials, max_time: 27 })],
  ];
  // Nobody knows how many trials a search will promote whose trials become better and better.
  const orders: readonly (readonly [LossOrder, number, number])[] = [
    ["random", 2, 15],
    ["best first", 1, 25],
    ["worst first", 1, 35],
  ];
  const errorsOf = (of: (trials: number) => SearcherConfig, order: LossOrder, drawn: number) =>
    Array.from({ length: 81 * drawn }, (_, i) => {
      const by = { seed: i + 1, workers: [1, 4, 8][i % 3] ?? 1, order };
      return worstError(simulatedMoments(of((i % 81) + 1), by));
    }).sort((a, b) => a - b);

  test.each(forms)(
    "four of five %s are within 15 points in a random order of losses, and none is 45 off",
    (_name, of) => {
      for (const [order, drawn, within] of orders) {
        const errors = errorsOf(of, order, drawn);
        expect(errors[Math.floor(errors.length * 0.8)]).toBeLessThanOrEqual(within);
        expect(errors.at(-1)).toBeLessThan(45);
      }
    },
  );
});

describe("half way, the median error of the estimated time left is within a quarter", () => {
  const errorOf = (moments: readonly Moment[]): number => {
    const { at: end = 0 } = moments.at(-1) ?? {};
    const half = moments.findLast(({ at }) => at <= end / 2);
    return Math.abs((half?.left ?? 0) / (end - (half?.at ?? 0)) - 1);
  };
  const timed = { max_time: 40 } as const;
  const of =
    (searcher: SearcherConfig, workers: number) =>
    (seed: number): readonly Moment[] =>
      simulatedMoments(searcher, { seed, workers });
  test.each([
    ["single", of({ ...singleOf, ...timed } as SearcherConfig, 1)],
    ["random", of({ ...randomOf(12, 4), ...timed } as SearcherConfig, 4)],
    ["asha of 12 trials", of(ashaOf({ max_trials: 12, max_time: 27 }), 4)],
    ["asha of 81 trials", of(ashaOf({ max_trials: 81, max_time: 27 }), 8)],
    ["pbt", populationMoments],
  ])("%s", (_name, momentsOf) => {
    const errors = seeds.map((seed) => errorOf(momentsOf(seed))).sort((a, b) => a - b);
    expect(errors[errors.length / 2]).toBeLessThanOrEqual(0.25);
  });
});

const plan = unitPlanOf({ ...singleOf, max_time: 200 } as SearcherConfig, {}, 1);

function single(place: TrialPlace): number {
  if (plan === null) throw new Error("the search has a plan");
  return progressOf(plan, moved(plan, emptyTally(plan), null, place));
}

test("a failed or canceled trial leaves the progress where it ended", () => {
  if (plan === null) throw new Error("the search has a plan");
  const at = { ...newPlace(0), time: 45, run: 1 };
  expect(single(at)).toBe(0.225);
  expect(single(endedPlace(plan, at, TrialOutcome.FAILED))).toBe(0.225);
  expect(single(endedPlace(plan, at, TrialOutcome.CANCELED))).toBe(0.225);
  expect(single(endedPlace(plan, at, TrialOutcome.COMPLETED))).toBe(1);
});

test("a trial without a planned time has the progress that its code reports, and is whole when it has completed", () => {
  const open = unitPlanOf(singleOf, {}, 1);
  if (open === null) throw new Error("the search has a plan");
  const of = (place: TrialPlace) => progressOf(open, moved(open, emptyTally(open), null, place));
  const reported = reportedPlace(open, newPlace(0), { run: 1, fraction: 0.4 });
  expect(of(newPlace(0))).toBe(0);
  expect(of(reported)).toBe(0.4);
  expect(of(endedPlace(open, reported, TrialOutcome.COMPLETED))).toBe(1);
  expect(of(endedPlace(open, newPlace(0), TrialOutcome.COMPLETED))).toBe(1);
  expect(of(reportedPlace(open, reported, { run: 2, fraction: 0.1 }))).toBe(0.1);
});
