/**
 * Searchers on learning curves over continuous spaces with eight workers, where a model may propose any place, not only
 * rows of a table. A searcher chooses the best trial by noisy values, and is judged by that trial's loss without noise.
 */
import { type HyperparameterSpace, parseForRecorded } from "@trainyard/experiment-config";
import { draw, isRejection } from "@trainyard/kernel";
import { runSearch } from "@trainyard/search/testing";
import { type BenchContext, type BenchResult, costResult } from "../support/bench.ts";
import { median } from "../support/measure.ts";
import { bowlOf, curveOf, type Family, plain } from "./curve-families.ts";
import { geometricMean } from "./quality.ts";

const WORKERS = 8;
/** The share of the scale that counts as no regret. */
const NO_REGRET = 0.005;
/** The final loss at the optimum of every family. */
const BEST_LOSS = 0.1 + 0.8 * (1 - Math.exp(-1.5 * 0.05));
/** The first trial number for the draws of the scale, beyond the numbers of every search. */
const SCALE_TRIALS = 1_000_000;
/** A number of trials beyond every budget of this benchmark. */
const TRIALS = 2_000;

/** Crossing, noisy and plateau curves, and one family without any of these. */
export const continuousFamilies: readonly Family[] = [
  { ...plain, name: "crossing", crossing: 0.8, slowest: 3.5, late: 0.1 },
  { ...plain, name: "crossing-late", crossing: 1, slowest: 4.5, late: 0.05, relevant: 6 },
  { ...plain, name: "noisy", noise: 0.08 },
  { ...plain, name: "plateau", late: 0.7, diverging: 0 },
  {
    ...plain,
    name: "misleading",
    misleading: 4,
    late: 0,
    diverging: 0.04,
    quickest: 200,
    slowest: 1,
  },
  { ...plain, name: "smooth", late: 0, diverging: 0 },
];

type Surrogate = {
  readonly name: string;
  readonly space: HyperparameterSpace;
  readonly steps: number;
  /** Returns the losses after each step of training a point, with this trial's noise and without. */
  readonly train: (at: readonly number[], trial: number) => Curves;
};
type Curves = {
  readonly reported: (step: number) => number;
  readonly true: (step: number) => number;
};

/** Every hyperparameter is a double from 0 to 1. */
export function surrogateOf(family: Family, seed: number): Surrogate {
  const { name, steps, hyperparameters } = family;
  const share = (stream: string, index: number): number => draw(seed, `${name}/${stream}`, index);
  const bowlAt = bowlOf(family, share);
  const quiet: Family = { ...family, noise: 0 };
  const names = Array.from({ length: hyperparameters }, (_, j) => `h${j}`);
  return {
    name: `${name}-${seed}`,
    steps,
    space: Object.fromEntries(
      names.map((key) => [key, { type: "double", minval: 0, maxval: 1, count: null }]),
    ),
    train: (at, trial) => {
      const chance = (stream: string): number => share(stream, trial);
      const curve = (of: Family) => curveOf(of, at[0] ?? 0, bowlAt(at), chance);
      return { reported: curve(family), true: curve(quiet) };
    },
  };
}

type Searcher = "bohb" | "auto" | "asha" | "random";
const searchers: readonly Searcher[] = ["bohb", "auto", "asha", "random"];

/** The regret after 1, 2, … full trainings' worth of steps, as a share of the median training's regret. */
type Regrets = readonly number[];

export async function compareContinuous({
  size,
  say,
}: BenchContext): Promise<readonly BenchResult[]> {
  const seeds = { tiny: 1, short: 5, full: 20 }[size];
  const budgets = size === "tiny" ? [2] : [10, 25, 50];
  const surrogates = continuousFamilies
    .slice(0, size === "tiny" ? 1 : continuousFamilies.length)
    .flatMap((family) => (size === "tiny" ? [1] : [1, 2]).map((n) => surrogateOf(family, n)));
  say(`continuous curves: ${seeds} seeds; regret × 100 at ${budgets.join(", ")} full trainings`);
  const regrets = new Map<Searcher, number[]>(searchers.map((searcher) => [searcher, []]));
  for (const surrogate of surrogates) {
    const shown = searchers.map((searcher) => {
      const values = regretsOn(surrogate, searcher, seeds, budgets);
      regrets.get(searcher)?.push(...values);
      return `${searcher} ${values.map((value) => (100 * value).toFixed(1).padStart(5)).join(" ")}`;
    });
    say(`  ${surrogate.name.padEnd(18)} ${shown.join("   ")}`);
    // Yields to the event loop, so that the report is written during a long run.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const mean = (searcher: Searcher): number => geometricMean(regrets.get(searcher) ?? []);
  const note = `of the median training's regret; ${seeds} seeds; geometric mean over ${surrogates.length} surrogates`;
  const bar = { id: "bohb_vs_random_continuous", unit: "regret", floor: 0.95, goal: 1 };
  return [costResult(bar, mean("bohb"), mean("random"), note)];
}

export function regretsOn(
  surrogate: Surrogate,
  searcher: Searcher,
  seeds: number,
  budgets: readonly number[],
): Regrets {
  const { space, steps, train } = surrogate;
  const axes = Object.keys(space);
  const finals = Array.from({ length: 501 }, (_, i) => {
    const at = axes.map((axis) => draw(1, `scale/${axis}`, i));
    const loss = train(at, SCALE_TRIALS + i).true(steps);
    return Number.isFinite(loss) ? loss : Number.POSITIVE_INFINITY;
  });
  const scale = median(finals) - BEST_LOSS;
  const runs = Array.from({ length: seeds }, (_, i) =>
    incumbentsOn(surrogate, searcher, i + 1, Math.max(...budgets)),
  );
  return budgets.map((budget) => {
    const losses = runs.map((run) => run[budget - 1] ?? Number.POSITIVE_INFINITY);
    return Math.max(NO_REGRET, (median(losses) - BEST_LOSS) / scale);
  });
}

/** The true losses of the best trial by reported values, after 1, 2, … full trainings' worth of steps. */
function incumbentsOn(
  { space, steps, train }: Surrogate,
  searcher: Searcher,
  seed: number,
  budget: number,
): readonly number[] {
  const recorded = {
    space,
    metric: "valid",
    smallerIsBetter: true,
    timeMetric: "step",
    maxTime: steps,
    trials: TRIALS,
    workers: WORKERS,
  };
  const defaults = { checkpoint_storage: { type: "directory", container_path: "/checkpoints" } };
  const parsed = parseForRecorded(`searcher: { name: ${searcher} }`, { defaults }, recorded);
  if (isRejection(parsed)) throw new Error(parsed.detail);
  const trainings: Curves[] = [];
  const run = runSearch({
    config: parsed.config,
    seed,
    workers: WORKERS,
    stepsMax: budget * steps,
    world: ({ number, hyperparameters = {} }) => {
      const at = Object.keys(space).map((key) => Number(hyperparameters[key]));
      // The numbers depend on the seed, so that another search of the same surrogate has other noise.
      const curves = train(at, seed * TRIALS + number);
      trainings[number] = curves;
      return { hyperparameters, steps, stepTime: 1, valueAt: curves.reported };
    },
  });
  let least = Number.POSITIVE_INFINITY;
  let loss = Number.POSITIVE_INFINITY;
  const losses: number[] = [];
  for (const [index, { trial, step, value }] of run.steps.entries()) {
    if (value !== null && value < least) {
      least = value;
      loss = trainings[trial]?.true(step) ?? loss;
    }
    if ((index + 1) % steps === 0) losses.push(loss);
  }
  return losses;
}
