/**
 * The quality of sequential searches compared with Optuna on the same functions: medians and quartiles of the best
 * value over seeds, and the regret as a share of random search's regret.
 */
import { type Bar, type BenchResult, costResult } from "../support/bench.ts";
import { median } from "../support/measure.ts";
import { ourRuns } from "./our-runs.ts";
import type { PeerSampler } from "./peer.ts";
import { peerRuns } from "./peer-runs.ts";
import type { Problem } from "./problems.ts";

export type Comparison = {
  /** The searcher's name in a configuration. */
  readonly ours: string;
  /** The samplers of Optuna to compare with; at each budget the better one counts. */
  readonly theirs: readonly PeerSampler[];
  readonly budgets: readonly number[];
  readonly bar: Bar;
};

type Say = (line: string) => void;

/** The best values after each trial, one list per seed. */
type Runs = readonly (readonly number[])[];

/**
 * The budget at which random search's regret is the scale of a problem, and the share of it that counts as no regret.
 */
const RANDOM_BUDGET = 50;
const NO_REGRET = 0.001;

export async function compareQuality(
  problems: readonly Problem[],
  comparison: Comparison,
  seeds: readonly number[],
  python: string | undefined,
  say: Say,
): Promise<BenchResult> {
  const { budgets, theirs, bar } = comparison;
  const { mine, random, peers } = await runsOf(problems, comparison, seeds, python, say);
  say(`${bar.id}: ${seeds.length} seeds, median [quartiles] of the best value`);
  const cells = problems.flatMap((problem, index) =>
    budgets.map((budget): Cell => {
      const scale = middle(random[index] ?? [], RANDOM_BUDGET) - problem.minimum;
      const regretOf = (values: Runs): number =>
        Math.max(NO_REGRET, (middle(values, budget) - problem.minimum) / scale);
      const others = theirs.map((_, sampler) => peers[sampler]?.[index] ?? []);
      const cell = { ours: regretOf(mine[index] ?? []), theirs: Math.min(...others.map(regretOf)) };
      const columns = [
        `${problem.name} at ${budget}`.padEnd(32),
        `ours ${quartiles(mine[index] ?? [], budget)}`,
        ...theirs.map((sampler, i) => `Optuna ${sampler} ${quartiles(others[i] ?? [], budget)}`),
        `ratio ${(cell.theirs / cell.ours).toFixed(2)}`,
      ];
      say(`  ${columns.slice(0, python === undefined ? 2 : columns.length).join("  ")}`);
      return cell;
    }),
  );
  const value = geometricMean(cells.map((cell) => cell.ours));
  const note = `of random search's at ${RANDOM_BUDGET}; ${seeds.length} seeds; geometric mean over ${problems.map(({ name }) => name).join(", ")} at ${budgets.join(", ")} trials`;
  const baseline = python === undefined ? null : geometricMean(cells.map((cell) => cell.theirs));
  return costResult(bar, value, baseline, note);
}

/** The median regrets of a problem as shares of its scale. */
type Cell = { readonly ours: number; readonly theirs: number };

type AllRuns = {
  /** Trainyard's runs, one entry per problem. */
  readonly mine: readonly Runs[];
  readonly random: readonly Runs[];
  /** Optuna's runs: for each sampler, one entry per problem. */
  readonly peers: readonly (readonly Runs[])[];
};

async function runsOf(
  problems: readonly Problem[],
  { ours, theirs, budgets }: Comparison,
  seeds: readonly number[],
  python: string | undefined,
  say: Say,
): Promise<AllRuns> {
  const trials = Math.max(...budgets);
  const each = <Run>(runOf: (problem: Problem, seed: number) => Run): Run[] =>
    problems.flatMap((problem) => seeds.map((seed) => runOf(problem, seed)));
  const ourRun = (searcher: string, length: number) => (problem: Problem, seed: number) => ({
    problem: problem.name,
    searcher,
    seed,
    trials: length,
  });
  const [own, other] = await Promise.all([
    ourRuns([...each(ourRun(ours, trials)), ...each(ourRun("random", RANDOM_BUDGET))]),
    python === undefined
      ? []
      : peerRuns(
          python,
          theirs.flatMap((sampler) =>
            each((problem, seed) => ({ problem, sampler, seed, trials })),
          ),
          say,
        ),
  ]);
  const byProblem = (values: Runs, part: number): Runs[] =>
    problems.map((_, index) => {
      const from = (part * problems.length + index) * seeds.length;
      return values.slice(from, from + seeds.length);
    });
  return {
    mine: byProblem(own, 0),
    random: byProblem(own, 1),
    peers: theirs.map((_, sampler) => byProblem(other, sampler)),
  };
}

export const geometricMean = (values: readonly number[]): number =>
  Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);

const at = (runs: Runs, budget: number): number[] =>
  runs.map((values) => values[budget - 1] ?? Number.NaN);

const middle = (runs: Runs, budget: number): number => median(at(runs, budget));

function quartiles(runs: Runs, budget: number): string {
  const sorted = at(runs, budget).sort((a, b) => a - b);
  const quantile = (share: number): number => {
    const place = share * (sorted.length - 1);
    const low = sorted[Math.floor(place)] ?? Number.NaN;
    const high = sorted[Math.ceil(place)] ?? Number.NaN;
    return low + (high - low) * (place - Math.floor(place));
  };
  const [low, mid, high] = [0.25, 0.5, 0.75].map((share) => quantile(share).toPrecision(4));
  return `${mid} [${low}, ${high}]`;
}
