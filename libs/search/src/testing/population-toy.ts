/**
 * The example of Jaderberg et al. (2017), figure 2. A member has weights (θ₀, θ₁) = (0.9, 0.9) and its objective is 1.2
 * - (θ₀² + θ₁²), but it follows the gradient of 1.2 - (h₀ θ₀² + h₁ θ₁²). One member starts with h = (1, 0), the other
 * with (0, 1), so each ignores one weight. Neither alone exceeds 0.39; by copying and changing, together they reach
 * 1.2.
 */
import type { HyperparameterSpace, SearcherConfig } from "@trainyard/experiment-config";
import { pbtOf, TestPopulation, type Training } from "./population.ts";

const RATE = 0.02;

const toySpace: HyperparameterSpace = {
  h0: { type: "double", minval: 0, maxval: 1, count: null },
  h1: { type: "double", minval: 0, maxval: 1, count: null },
};

const toySearcher: SearcherConfig = {
  ...pbtOf({ population_size: 2, max_time: 200, interval: 4, max_trials: 1_000 }),
  smaller_is_better: false,
  warm_start: {
    points: [
      { h0: 1, h1: 0 },
      { h0: 0, h1: 1 },
    ],
  },
};

const toy: Training<readonly [number, number]> = {
  initial: [0.9, 0.9],
  step: ([t0, t1], { h0, h1 }) => [
    t0 * (1 - 2 * RATE * Number(h0)),
    t1 * (1 - 2 * RATE * Number(h1)),
  ],
  valueOf: ([t0, t1]) => 1.2 - (t0 * t0 + t1 * t1),
};

/** Returns the best value that two members reach in 200 steps. */
export function bestOfToy(seed: number): number {
  const population = new TestPopulation(toy, 1);
  population.start(toySearcher, toySpace, seed);
  population.run();
  return population.search.completion()?.bestValue ?? Number.NEGATIVE_INFINITY;
}
