/** The promises about progress, over the histories of whole searches that are run in virtual time. */
import { TrialOutcome } from "@trainyard/contracts/events";
import type { SearcherConfig } from "@trainyard/experiment-config";
import { draw } from "@trainyard/kernel";
import { describe, expect, test } from "vitest";
import type { SearchEvent } from "../events.ts";
import { runSearch, type World } from "../simulation/run.ts";
import { ashaOf, asyncHalvingOf } from "../testing/halving.ts";
import { pbtOf, TestPopulation } from "../testing/population.ts";
import { configOf, gridOf, randomOf, singleOf, spaceOfTwo } from "../testing/searches.ts";
import {
  emptyTally,
  endedPlace,
  moved,
  newPlace,
  placeAfter,
  progressOf,
  reportedPlace,
  type Tally,
  type TrialPlace,
  unitPlanOf,
} from "./index.ts";

type Moment = { readonly trained: number; readonly progress: number };

/** The progress after each event of a search, and the units that its trials had trained. */
function momentsOf(searcher: SearcherConfig, events: readonly SearchEvent[]): readonly Moment[] {
  const moments: Moment[] = [];
  const places = new Map<number, TrialPlace>();
  let plan: ReturnType<typeof unitPlanOf> = null;
  let tally: Tally | null = null;
  for (const event of events) {
    if (event.type === "SearchStarted") {
      plan = unitPlanOf(searcher, spaceOfTwo, event.data.trialsMax);
      tally = plan === null ? null : emptyTally(plan);
    }
    if (plan === null || tally === null) continue;
    const trial = trialOf(event);
    const before = places.get(trial) ?? null;
    const after =
      event.type === "TrialProposed"
        ? newPlace(event.data.startFromTime ?? 0)
        : event.type === "TrialOutcomeRecorded" && before !== null
          ? endedPlace(plan, before, event.data.outcome)
          : before === null
            ? null
            : placeAfter(plan, before, event);
    tally = moved(plan, tally, before, after);
    if (after !== null) places.set(trial, after);
    moments.push({ trained: tally.trained, progress: progressOf(plan, tally) });
  }
  return moments;
}

function trialOf(event: SearchEvent): number {
  if (event.type === "TrialProposed") return event.data.number;
  return "trial" in event.data ? Number(event.data.trial) : 0;
}

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

/** A search whose trials' losses fall with time towards values that are drawn. */
function simulated(
  searcher: SearcherConfig,
  seed: number,
  workers: number,
): readonly SearchEvent[] {
  const space = searcher.name === "grid" ? gridSpace : spaceOfTwo;
  const steps = "max_time" in searcher ? (searcher.max_time ?? 10) : 10;
  const world: World = ({ number, hyperparameters = {} }) => ({
    hyperparameters,
    steps,
    stepTime: 1 + draw(seed, "speed", number) / 4,
    valueAt: (step) => draw(seed, "loss", number) + 1 / step,
  });
  return runSearch({ config: configOf(searcher, space), seed, workers, world }).events;
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
    const errors = seeds.map((seed) =>
      worstError(momentsOf(searcher, simulated(searcher, seed, workers))),
    );
    expect(Math.max(...errors)).toBeLessThanOrEqual(within);
  });

  test("pbt", () => {
    const errors = seeds.map((seed) => {
      const searcher = pbtOf({ population_size: 8, max_time: 40, interval: 5, max_trials: 100 });
      const population = new TestPopulation(
        {
          initial: 0,
          step: (state: number, { lr }) => state + Number(lr),
          valueOf: (state) => -state,
        },
        1,
      );
      population.start(searcher, spaceOfTwo, seed);
      population.run();
      return worstError(momentsOf(searcher, population.search.events));
    });
    expect(Math.max(...errors)).toBeLessThanOrEqual(15);
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
