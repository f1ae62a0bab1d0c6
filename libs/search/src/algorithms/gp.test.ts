import { decodeEvent, encodeEvent } from "@trainyard/contracts";
import { SearchCompletion, TrialOutcome } from "@trainyard/contracts/events";
import type { HyperparameterSpace } from "@trainyard/experiment-config";
import { draw, fold } from "@trainyard/kernel";
import { describe, expect, it } from "vitest";
import { searchDecider } from "../decider.ts";
import type { SearchEvent } from "../events.ts";
import { incumbents, simulate } from "../simulate.ts";
import { decodeSearch, encodeSearch } from "../snapshot.ts";
import { branin, hartmann6, type TestFunction } from "../test-functions.ts";
import { configOf, DrivenSearch, gpOf, randomOf, sobolOf } from "../test-searches.ts";

const { COMPLETED, FAILED, INVALID_HYPERPARAMETERS: INVALID } = TrialOutcome;

const mixed: HyperparameterSpace = {
  lr: { type: "log", minval: -4, maxval: -1, base: 10, count: null },
  layers: { type: "int", minval: 1, maxval: 6, count: null },
  optimizer: { type: "categorical", vals: ["sgd", "adam", "lamb"] },
};

function lossAt(point: unknown): number {
  const { lr, layers, optimizer } = point as { lr: number; layers: number; optimizer: string };
  const rate = Math.log10(lr) + 2;
  return rate * rate + 0.2 * (layers - 4) ** 2 + (optimizer === "adam" ? 0 : 1);
}

const points = (search: DrivenSearch): unknown[] =>
  search.proposals().map(({ hyperparameters }) => hyperparameters);

function simulated(of: TestFunction, trials: number, workers: number, seed: number) {
  return simulate(configOf(gpOf(trials, workers), of.space), seed, workers, (point, trial) => ({
    value: of.valueAt(point),
    duration: 0.5 + draw(seed, "duration", trial),
  }));
}

describe("search by a Gaussian process", { timeout: 60_000 }, () => {
  it("fills the space until enough trials have ended, then follows the model", () => {
    const search = new DrivenSearch();
    search.start(configOf(gpOf(30, 1), mixed), 7);
    for (let trial = 1; search.completion() === undefined; trial += 1) {
      search.validate(trial, 1, lossAt(points(search)[trial - 1]));
      search.end(trial, COMPLETED);
    }
    const filling = new DrivenSearch();
    filling.start(configOf(sobolOf(9, 0), mixed), 7);
    expect(points(search).slice(0, 8)).toEqual(points(filling).slice(0, 8));
    expect(points(search)[8]).not.toEqual(points(filling)[8]);
    expect(search.completion()?.bestValue).toBeLessThan(0.02);
    for (const point of points(search)) {
      const { layers, optimizer } = point as { layers: number; optimizer: string };
      expect([1, 2, 3, 4, 5, 6]).toContain(layers);
      expect(["sgd", "adam", "lamb"]).toContain(optimizer);
    }
  });

  it("comes close to Branin's minimum in 40 trials", () => {
    const { ended } = simulated(branin, 40, 1, 1);
    expect(incumbents(ended, true).at(-1)).toBeLessThan(0.41);
  });

  it("with eight trials at a time is far below random search on Hartmann6", () => {
    const bests = [1, 2, 3].map((seed) => {
      const world = (point: Parameters<TestFunction["valueAt"]>[0]) => ({
        value: hartmann6.valueAt(point),
        duration: 1,
      });
      const random = simulate(configOf(randomOf(50, 8), hartmann6.space), seed, 8, world);
      const best = (ended: typeof random.ended) => incumbents(ended, true).at(-1) ?? 0;
      return [best(simulated(hartmann6, 50, 8, seed).ended), best(random.ended)] as const;
    });
    for (const [model, random] of bests) expect(model).toBeLessThan(random - 0.3);
  });

  it("proposes no place twice while trials run", () => {
    const search = new DrivenSearch();
    search.start(configOf(gpOf(40, 12), branin.space), 3);
    for (let trial = 1; trial <= 12; trial += 1) {
      search.validate(trial, 1, trial);
      search.end(trial, COMPLETED);
    }
    const texts = points(search).map((point) => JSON.stringify(point));
    expect(texts).toHaveLength(24);
    expect(new Set(texts).size).toBe(24);
  });

  it("decides the same when it hears everything again, from a snapshot each time", () => {
    const { events, state } = simulated(branin, 24, 4, 5);
    const stored = events.map((event) => decodeEvent(encodeEvent(event)) as SearchEvent);
    const restored = decodeSearch(
      encodeSearch(fold(searchDecider.evolve, searchDecider.initial, stored.slice(0, 30))),
    );
    const whole = fold(searchDecider.evolve, restored ?? searchDecider.initial, stored.slice(30));
    expect(encodeSearch(whole)).toBe(encodeSearch(state));
    const search = new DrivenSearch();
    search.start(configOf(gpOf(24, 4), branin.space), 5);
    for (const event of stored) {
      search.state = decodeSearch(encodeSearch(search.state)) ?? search.state;
      for (const _ of [1, 2]) {
        if (event.type === "ObservationRecorded") {
          const { trial, time, values, measurement } = event.data;
          const runs = { run: 1, currentRun: 1, step: time };
          search.send({ type: "RecordValidation", trial, ...runs, scalars: values, measurement });
        } else if (event.type === "TrialOutcomeRecorded") {
          search.end(event.data.trial, event.data.outcome);
        }
      }
    }
    expect(search.events.map((event) => decodeEvent(encodeEvent(event)))).toEqual(stored);
  });

  it("goes on filling the space while no trial is better than another", () => {
    const search = new DrivenSearch();
    search.start(configOf(gpOf(14, 1), branin.space), 3);
    for (let trial = 1; trial <= 12; trial += 1) {
      search.end(trial, trial % 2 ? INVALID : FAILED);
    }
    for (let trial = 13; search.completion() === undefined; trial += 1) {
      search.validate(trial, 1, trial % 2 ? Number.NaN : 1);
      search.end(trial, COMPLETED);
    }
    expect(points(search)).toHaveLength(20);
    expect(search.completion()).toMatchObject({ reason: SearchCompletion.EXHAUSTED });
  });
});
