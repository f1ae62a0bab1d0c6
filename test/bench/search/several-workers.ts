/**
 * A Gaussian process with eight workers, each of which starts the next trial when it has finished one: the best value
 * after 50 and 100 trials of different lengths, compared with a required value. Optuna 4.9 reaches -1.41 and -2.29 on
 * Hartmann's function, and 14.1 on Ackley's.
 */
import { draw } from "@trainyard/kernel";
import { incumbents, simulate } from "@trainyard/search";
import { type BenchContext, type BenchResult, costResult } from "../support/bench.ts";
import { median } from "../support/measure.ts";
import { configFor } from "./ours.ts";
import { type Problem, problemOf } from "./problems.ts";

const WORKERS = 8;

type Wanted = {
  readonly id: string;
  readonly problem: string;
  readonly trials: number;
  /** The required median of the best value. */
  readonly value: number;
};

const wanted: readonly Wanted[] = [
  { id: "gp_async_hartmann6_50", problem: "hartmann6", trials: 50, value: -3.1 },
  { id: "gp_async_hartmann6_100", problem: "hartmann6", trials: 100, value: -3.25 },
  { id: "gp_async_ackley5_100", problem: "ackley5", trials: 100, value: 4.5 },
];

export function measureSeveralWorkers(
  seeds: readonly number[],
  { size, say }: BenchContext,
): readonly BenchResult[] {
  const runs = new Map<string, readonly (readonly number[])[]>();
  return wanted.map(({ id, ...one }) => {
    const trials = size === "tiny" ? 12 : one.trials;
    const problem = problemOf(one.problem);
    const most = size === "tiny" ? trials : 100;
    const ours = runs.get(one.problem) ?? seeds.map((seed) => incumbentsOf(problem, seed, most));
    runs.set(one.problem, ours);
    const values = ours.map((run) => run[trials - 1] ?? Number.NaN).sort((a, b) => a - b);
    const middle = median(values);
    const quarter = (share: number): string =>
      (values[Math.round(share * (values.length - 1))] ?? Number.NaN).toPrecision(4);
    say(
      `${id}: ${seeds.length} seeds, median [quartiles] ${middle.toPrecision(4)} [${quarter(0.25)}, ${quarter(0.75)}], wanted ${one.value}`,
    );
    const bar = { id, unit: "regret", floor: null, goal: 1 };
    const note = `best value ${middle.toPrecision(4)}, wanted ${one.value}; ${seeds.length} seeds, ${WORKERS} workers`;
    return costResult(bar, middle - problem.minimum, one.value - problem.minimum, note);
  });
}

function incumbentsOf(problem: Problem, seed: number, trials: number): number[] {
  const config = configFor(problem, "gp", trials, { max_concurrent_trials: WORKERS });
  const { ended } = simulate(config, seed, WORKERS, (point, trial) => ({
    value: problem.valueAt(point),
    duration: lengthOf(seed, trial),
  }));
  return incumbents(ended, true).map((best) => best ?? Number.NaN);
}

/**
 * Returns a lognormal length whose underlying normal has mean 0 and deviation 0.5 (G. E. P. Box, M. E. Muller, 1958).
 */
function lengthOf(seed: number, trial: number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - draw(seed, "length/radius", trial)));
  return Math.exp(0.5 * radius * Math.cos(2 * Math.PI * draw(seed, "length/angle", trial)));
}
