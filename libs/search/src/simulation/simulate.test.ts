import { SearchCompletion } from "@trainyard/contracts/events";
import type { NormalisedConfig, SearcherConfig } from "@trainyard/experiment-config";
import { draw } from "@trainyard/kernel";
import { describe, expect, it } from "vitest";
import { incumbents, simulate } from "./simulate.ts";
import {
  ackley5,
  branin,
  hartmann6,
  rosenbrock4,
  type TestFunction,
} from "../testing/functions.ts";
import { configOf, randomOf, sobolOf, tpeOf } from "../testing/searches.ts";

const config = (searcher: SearcherConfig, { space }: TestFunction): NormalisedConfig =>
  configOf(searcher, space);

describe("a simulated search", () => {
  it("keeps every worker busy with one trial at a time, in virtual time", () => {
    const { ended } = simulate(config(randomOf(5, 0), branin), 1, 2, (_, trial) => ({
      value: trial,
      duration: trial,
    }));
    expect(ended.map(({ trial, endedAt }) => [trial, endedAt])).toEqual([
      [1, 1],
      [2, 2],
      [3, 4],
      [4, 6],
      [5, 9],
    ]);
  });

  it("respects the search's concurrency, and ends when the search completes", () => {
    const { ended, state } = simulate(config(randomOf(4, 1), branin), 1, 8, () => ({
      value: null,
      duration: 1,
    }));
    expect(ended.map(({ endedAt }) => endedAt)).toEqual([1, 2, 3, 4]);
    expect(state.phase).toBe("completed");
  });

  it("repeats the same result for the same seed", () => {
    const run = () =>
      simulate(config(tpeOf(40, 8), hartmann6), 3, 8, (point, trial) => ({
        value: hartmann6.valueAt(point),
        duration: 1 + draw(3, "duration", trial),
      }));
    expect(run()).toEqual(run());
    expect(run().events.at(-1)).toMatchObject({ data: { reason: SearchCompletion.EXHAUSTED } });
  });

  it("lists the best value after each trial", () => {
    const trials = [null, Number.NaN, 3, 1, 2].map((value, i) => ({
      trial: i + 1,
      hyperparameters: {},
      value,
      endedAt: i,
    }));
    expect(incumbents(trials, true)).toEqual([null, null, 3, 1, 1]);
    expect(incumbents(trials, false)).toEqual([null, null, 3, 3, 3]);
  });
});

const seeds = Array.from({ length: 20 }, (_, seed) => seed + 1);

/** Returns the medians over twenty seeds of the best value after each of 100 trials. */
function medians(of: TestFunction, searcher: SearcherConfig, workers: number): number[] {
  const runs = seeds.map((seed) => {
    const { ended } = simulate(config(searcher, of), seed, workers, (point, trial) => ({
      value: of.valueAt(point),
      duration: workers === 1 ? 1 : 0.5 + draw(seed, "duration", trial),
    }));
    return incumbents(ended, true).map((value) => value ?? Number.POSITIVE_INFINITY);
  });
  return Array.from({ length: 100 }, (_, i) => {
    const sorted = runs.map((run) => run[i] ?? Number.NaN).sort((a, b) => a - b);
    return ((sorted[9] ?? Number.NaN) + (sorted[10] ?? Number.NaN)) / 2;
  });
}

/** Returns the regret after 50 and 100 trials, as a share of that of random search. */
function besideRandom(of: TestFunction, multivariate: boolean, workers: number): number[] {
  const [random, model] = [randomOf(100, workers), tpeOf(100, workers, multivariate)].map(
    (searcher) => medians(of, searcher, workers),
  );
  const regret = (values: readonly number[] | undefined, trials: number): number =>
    (values?.[trials - 1] ?? Number.NaN) - of.minimum;
  return [50, 100].map((trials) => regret(model, trials) / regret(random, trials));
}

describe("TPE has, in the median over twenty seeds, less regret than random search", () => {
  it.each([
    { of: branin, multivariate: true, workers: 1, at50: 0.6, at100: 0.33 },
    { of: branin, multivariate: true, workers: 8, at50: 0.7, at100: 0.33 },
    { of: branin, multivariate: false, workers: 1, at50: 0.8, at100: 0.4 },
    { of: hartmann6, multivariate: true, workers: 1, at50: 0.6, at100: 0.4 },
    { of: hartmann6, multivariate: true, workers: 8, at50: 0.75, at100: 0.5 },
    { of: hartmann6, multivariate: false, workers: 1, at50: 0.8, at100: 0.5 },
    { of: ackley5, multivariate: true, workers: 8, at50: 0.85, at100: 0.65 },
    { of: rosenbrock4, multivariate: true, workers: 1, at50: 0.2, at100: 0.1 },
  ])(
    "on $of.name (multivariate $multivariate, $workers at a time): below $at50 times after 50 trials, $at100 after 100",
    { timeout: 60_000 },
    ({ of, multivariate, workers, at50, at100 }) => {
      const [after50 = Number.NaN, after100 = Number.NaN] = besideRandom(of, multivariate, workers);
      expect(after50).toBeLessThan(at50);
      expect(after100).toBeLessThan(at100);
    },
  );
});

describe("a quasi-random search", () => {
  it("has at most 1.1 times the value of random search on Branin after 50 trials", () => {
    const random = medians(branin, randomOf(100, 1), 1);
    const sobol = medians(branin, sobolOf(100, 1), 1);
    expect(sobol[49]).toBeLessThan((random[49] ?? 0) * 1.1);
  });
});
