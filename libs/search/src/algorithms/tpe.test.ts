import { decodeEvent, encodeEvent } from "@trainyard/contracts";
import { SearchCompletion, TrialOutcome } from "@trainyard/contracts/events";
import type { HyperparameterSpace, SearcherConfig } from "@trainyard/experiment-config";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SearchMachine } from "../machine.ts";
import type { SearchEvent } from "../events.ts";
import { simulate } from "../simulation/simulate.ts";
import { encodeSearch } from "../snapshot.ts";
import { configOf, DrivenSearch, sobolOf, tpeOf } from "../testing/searches.ts";
import type { ModelState } from "./model-state.ts";

const { COMPLETED, FAILED, CANCELED, INVALID_HYPERPARAMETERS: INVALID } = TrialOutcome;

/** A space with one axis of each kind. */
const mixed: HyperparameterSpace = {
  lr: { type: "log", minval: -4, maxval: -1, base: 10, count: null },
  nest: {
    momentum: { type: "double", minval: 0.5, maxval: 0.99, count: null },
    layers: { type: "int", minval: 1, maxval: 6, count: null },
  },
  units: { type: "int", minval: 16, maxval: 2_000, count: null },
  optimizer: { type: "categorical", vals: ["sgd", { name: "adam", beta: 0.9 }, null] },
  fixed: { type: "const", val: 3 },
};

type Point = {
  readonly lr: number;
  readonly nest: { readonly momentum: number; readonly layers: number };
  readonly units: number;
  readonly optimizer: unknown;
};

/** The loss is smallest at lr 0.01, momentum 0.9, 4 layers, 512 units and the optimizer Adam. */
function lossAt(point: unknown): number {
  const { lr, nest, units, optimizer } = point as Point;
  const choice = typeof optimizer === "object" && optimizer !== null ? 0 : 1;
  const rate = Math.log10(lr) + 2;
  return (
    rate * rate +
    4 * (nest.momentum - 0.9) ** 2 +
    0.2 * (nest.layers - 4) ** 2 +
    ((units - 512) / 800) ** 2 +
    choice
  );
}

const points = (search: DrivenSearch): unknown[] =>
  search.proposals().map(({ hyperparameters }) => hyperparameters);

/** Returns a search whose trials end one after the other with their losses. */
function trained(searcher: SearcherConfig, space = mixed, seed = 7): DrivenSearch {
  const search = new DrivenSearch();
  search.start(configOf(searcher, space), seed);
  for (let trial = 1; search.completion() === undefined; trial += 1) {
    const point = search.proposals()[trial - 1]?.hyperparameters;
    search.validate(trial, 1, lossAt(point));
    search.end(trial, COMPLETED);
  }
  return search;
}

describe.each([true, false])("TPE (multivariate: %s)", (multivariate) => {
  it("fills the space until ten trials have ended", () => {
    const search = trained(tpeOf(12, 1, multivariate));
    const filling = new DrivenSearch();
    filling.start(configOf(sobolOf(12, 0), mixed), 7);
    expect(points(search).slice(0, 10)).toEqual(points(filling).slice(0, 10));
    expect(points(search)[10]).not.toEqual(points(filling)[10]);
  });

  it("finds points with a small loss, on axes of every kind", () => {
    const losses = [1, 2, 3].map((seed) => {
      const search = trained(tpeOf(80, 1, multivariate), mixed, seed);
      return Number(search.completion()?.bestValue);
    });
    for (const loss of losses) expect(loss).toBeLessThan(0.35);
  });

  it("proposes only values of the space", () => {
    for (const point of points(trained(tpeOf(60, 1, multivariate))) as Point[]) {
      expect(point.lr).toBeGreaterThanOrEqual(0.0001);
      expect(point.lr).toBeLessThanOrEqual(0.1);
      expect(point.nest.momentum).toBeGreaterThanOrEqual(0.5);
      expect(point.nest.momentum).toBeLessThanOrEqual(0.99);
      expect([1, 2, 3, 4, 5, 6]).toContain(point.nest.layers);
      expect(Number.isInteger(point.units)).toBe(true);
      expect(point.units).toBeGreaterThanOrEqual(16);
      expect(point.units).toBeLessThanOrEqual(2_000);
      expect(["sgd", { name: "adam", beta: 0.9 }, null]).toContainEqual(point.optimizer);
      expect(point).toMatchObject({ fixed: 3 });
    }
  });

  it("does not propose the same point twice while trials run", () => {
    const search = new DrivenSearch();
    search.start(configOf(tpeOf(60, 20, multivariate)), 3);
    for (let trial = 1; trial <= 20; trial += 1) {
      search.validate(trial, 1, trial);
      search.end(trial, COMPLETED);
    }
    const texts = points(search).map((point) => JSON.stringify(point));
    expect(new Set(texts).size).toBe(texts.length);
    expect(texts).toHaveLength(40);
  });

  it("does not repeat a point if no axis is continuous", () => {
    const vals = [1, 2, 3, 4, 5];
    const choices: HyperparameterSpace = {
      a: { type: "categorical", vals },
      b: { type: "categorical", vals },
      c: { type: "int", minval: 1, maxval: 5, count: null },
    };
    const search = new DrivenSearch();
    search.start(configOf(tpeOf(40, 1, multivariate), choices), 2);
    for (let trial = 1; trial <= 40; trial += 1) {
      const { a, b, c } = points(search)[trial - 1] as { a: number; b: number; c: number };
      search.validate(trial, 1, a + b + c);
      search.end(trial, COMPLETED);
    }
    const texts = points(search).map((point) => JSON.stringify(point));
    const again = texts.filter((text, index) => index >= 10 && texts.indexOf(text) < index);
    expect(again).toEqual([]);
  });

  it("replaces invalid trials, even if no trial was valid", () => {
    const search = new DrivenSearch();
    search.start(configOf(tpeOf(15, 1, multivariate)), 3);
    for (let trial = 1; trial <= 14; trial += 1) search.end(trial, trial % 2 ? INVALID : FAILED);
    expect(points(search)).toHaveLength(15);
    for (let trial = 15; search.completion() === undefined; trial += 1)
      search.end(trial, COMPLETED);
    expect(points(search)).toHaveLength(22);
    expect(search.completion()).toEqual({ reason: SearchCompletion.EXHAUSTED });
  });

  it("proposes the only point of a space without a choice", () => {
    const search = new DrivenSearch();
    search.start(configOf(tpeOf(12, 1, multivariate), { a: { type: "const", val: 1 } }));
    for (let trial = 1; trial <= 12; trial += 1) search.end(trial, COMPLETED);
    expect(points(search)).toEqual(Array.from({ length: 12 }, () => ({ a: 1 })));
  });
});

describe("the memory of TPE", () => {
  function started(larger = false): DrivenSearch {
    const search = new DrivenSearch();
    search.start(configOf({ ...tpeOf(40, 0), smaller_is_better: !larger }));
    return search;
  }
  const ranking = (search: DrivenSearch): number[] =>
    (search.state.memory as ModelState).ranked.map(({ trial }) => trial);

  it("ranks the best trials first, and of equal ones the one that reported first", () => {
    const search = started();
    for (const [trial, loss] of [
      [3, 0.5],
      [1, 0.5],
      [2, 0.1],
    ] as const) {
      search.validate(trial, 1, loss);
    }
    for (const trial of [1, 2, 3]) search.end(trial, COMPLETED);
    expect(ranking(search)).toEqual([2, 3, 1]);
  });

  it("ranks larger values first if larger is better", () => {
    const search = started(true);
    for (const trial of [1, 2, 3]) {
      search.validate(trial, 1, trial);
      search.end(trial, COMPLETED);
    }
    expect(ranking(search)).toEqual([3, 2, 1]);
  });

  it("leaves out failed, invalid and canceled trials and trials without a finite value", () => {
    const search = started();
    for (const trial of [1, 2, 3]) search.validate(trial, 1, 0.1);
    search.validate(4, 1, Number.NaN);
    for (const [i, outcome] of [FAILED, INVALID, CANCELED, COMPLETED].entries()) {
      search.end(i + 1, outcome);
    }
    expect(search.state.memory as ModelState).toMatchObject({ ranked: [], ended: 3 });
  });

  it("does not change with a value that arrives after the trial's end", () => {
    const search = started();
    for (const trial of [1, 2]) {
      search.validate(trial, 1, trial);
      search.end(trial, COMPLETED);
    }
    search.validate(2, 2, 0.5);
    expect(ranking(search)).toEqual([1, 2]);
  });
});

describe("a search by TPE", () => {
  const history = fc.tuple(
    fc.boolean(),
    fc.nat({ max: 1_000 }),
    fc.integer({ min: 1, max: 7 }),
    fc.array(fc.oneof(fc.double(), fc.constant(null)), { minLength: 30, maxLength: 30 }),
  );

  it("is the same after every replay and from any snapshot, even with repeated reports", () => {
    fc.assert(
      fc.property(history, fc.nat(), ([multivariate, seed, workers, values], cut) => {
        const run = simulate(
          configOf(tpeOf(30, workers, multivariate), mixed),
          seed,
          workers,
          (_, trial) => ({ value: values[trial - 1] ?? null, duration: 1 + (trial % 3) }),
        );
        const stored = run.events.map((event) => decodeEvent(encodeEvent(event)) as SearchEvent);
        const at = cut % stored.length;
        const whole = SearchMachine.restored(SearchMachine.of(stored.slice(0, at)).snapshot());
        for (const event of stored.slice(at)) whole?.apply(event);
        expect(whole?.snapshot()).toBe(encodeSearch(run.state));
        expect(redecided(stored)).toEqual(stored);
      }),
      { numRuns: 40 },
    );
  });
});

/**
 * Decides a recorded search again: every event is repeated, and the search is restored from a snapshot before each
 * event.
 */
function redecided(stored: readonly SearchEvent[]): SearchEvent[] {
  const search = new DrivenSearch();
  const again = (): void => search.restore();
  const [first] = stored;
  if (first?.type !== "SearchStarted") throw new Error("a search starts");
  const searcher = first.data.searcher as unknown as SearcherConfig;
  search.start(configOf(searcher, mixed), first.data.seed);
  for (const event of stored) {
    for (const _ of [1, 2]) {
      again();
      if (event.type === "ObservationRecorded") {
        const { trial, time, values, measurement } = event.data;
        search.send({
          type: "RecordValidation",
          trial,
          run: 1,
          currentRun: 1,
          step: time,
          scalars: values,
          measurement,
        });
      } else if (event.type === "TrialOutcomeRecorded") {
        search.end(event.data.trial, event.data.outcome);
      }
    }
  }
  return search.events.map((event) => decodeEvent(encodeEvent(event)) as SearchEvent);
}

describe("TPE", () => {
  it("proposes the recorded points", () => {
    expect(points(trained(tpeOf(13, 1))).slice(10)).toMatchInlineSnapshot(`
      [
        {
          "fixed": 3,
          "lr": 0.00971969738665018,
          "nest": {
            "layers": 6,
            "momentum": 0.902924831469655,
          },
          "optimizer": {
            "beta": 0.9,
            "name": "adam",
          },
          "units": 1658,
        },
        {
          "fixed": 3,
          "lr": 0.006212516961175548,
          "nest": {
            "layers": 6,
            "momentum": 0.8056447354991761,
          },
          "optimizer": null,
          "units": 458,
        },
        {
          "fixed": 3,
          "lr": 0.0186013392283205,
          "nest": {
            "layers": 5,
            "momentum": 0.912792176344956,
          },
          "optimizer": null,
          "units": 622,
        },
      ]
    `);
    expect(points(trained(tpeOf(13, 1, false))).slice(10)).toMatchInlineSnapshot(`
      [
        {
          "fixed": 3,
          "lr": 0.007928644945989513,
          "nest": {
            "layers": 6,
            "momentum": 0.9882119909139961,
          },
          "optimizer": {
            "beta": 0.9,
            "name": "adam",
          },
          "units": 1916,
        },
        {
          "fixed": 3,
          "lr": 0.002015730719470494,
          "nest": {
            "layers": 6,
            "momentum": 0.667192777864246,
          },
          "optimizer": {
            "beta": 0.9,
            "name": "adam",
          },
          "units": 824,
        },
        {
          "fixed": 3,
          "lr": 0.0027774104280712643,
          "nest": {
            "layers": 6,
            "momentum": 0.6505170028705194,
          },
          "optimizer": {
            "beta": 0.9,
            "name": "adam",
          },
          "units": 714,
        },
      ]
    `);
  });

  it("proposes the same points for any order of the space's keys", () => {
    const turned = Object.fromEntries(Object.entries(mixed).reverse());
    expect(points(trained(tpeOf(20, 1), turned))).toEqual(points(trained(tpeOf(20, 1))));
  });
});
