/** Runs searches against a table, and measures the best value found by the training spent, in full trainings. */
import type { NormalisedConfig } from "@trainyard/experiment-config";
import { runSearch, type TrainedStep } from "./run.ts";
import { RowsLeft, type Table } from "./table.ts";

export type TableRun = {
  readonly seed: number;
  /** The best reported value after each full training's worth of steps by all trials; null for none. */
  readonly incumbents: readonly (number | null)[];
  /** The number of trials that trained at least one step. */
  readonly trials: number;
  /** The number of trials that were stopped before their last step, or are suspended at the end. */
  readonly stopped: number;
};

export type TableSettings = {
  readonly config: NormalisedConfig;
  readonly table: Table;
  readonly seed: number;
  readonly workers: number;
  /** The budget in full trainings' worth of steps; without it the search runs to its end. */
  readonly budget?: number;
};

/** Runs a search. `config` must match the table: its space, its number of steps, and at most as many trials as rows. */
export function runOnTable({ config, table, seed, workers, budget }: TableSettings): TableRun {
  const left = new RowsLeft(table, seed);
  const { steps: stepsOfTraining, smallerIsBetter } = table;
  const run = runSearch({
    config,
    seed,
    workers,
    world: ({ number, hyperparameters = {}, origin }) => {
      const row = origin === "drawn" ? left.drawn() : left.nearest(hyperparameters, number);
      return {
        hyperparameters: left.hyperparameters(row),
        steps: stepsOfTraining,
        stepTime: 1,
        valueAt: (step) => table.valueAt(row, step),
      };
    },
    ...(budget === undefined ? {} : { stepsMax: budget * stepsOfTraining }),
  });
  const done = new Map<number, number>();
  for (const { trial, step } of run.steps) done.set(trial, step);
  const training = run.training;
  const stopped = [...done].filter(
    ([trial, step]) => step < stepsOfTraining && !training.includes(trial),
  );
  return {
    seed,
    incumbents: incumbentsOf(run.steps, stepsOfTraining, smallerIsBetter),
    trials: done.size,
    stopped: stopped.length,
  };
}

function incumbentsOf(
  steps: readonly TrainedStep[],
  stepsOfTraining: number,
  smallerIsBetter: boolean,
): readonly (number | null)[] {
  const incumbents: (number | null)[] = [];
  let best: number | null = null;
  for (const [index, { value }] of steps.entries()) {
    if (value !== null && Number.isFinite(value)) {
      if (best === null || (smallerIsBetter ? value < best : value > best)) best = value;
    }
    if ((index + 1) % stepsOfTraining === 0) incumbents.push(best);
  }
  // The steps after the last complete training's worth count as one more.
  if (steps.length % stepsOfTraining !== 0) incumbents.push(best);
  return incumbents;
}

export type BudgetSummary = {
  readonly budget: number;
  readonly q25: number | null;
  readonly median: number | null;
  readonly q75: number | null;
};

/** Extends all runs to the same number of incumbents, at least `length`, by repeating the last one. */
export function lengthened(runs: readonly TableRun[], length: number): readonly TableRun[] {
  const most = runs.reduce((longest, run) => Math.max(longest, run.incumbents.length), length);
  return runs.map((run) => ({
    ...run,
    incumbents: Array.from(
      { length: most },
      (_, i) => run.incumbents[Math.min(i, run.incumbents.length - 1)] ?? null,
    ),
  }));
}

/** Returns the interpolated quartiles over the runs at each budget; a run without a value is worse than any. */
export function summaryOf(
  runs: readonly TableRun[],
  smallerIsBetter: boolean,
): readonly BudgetSummary[] {
  const budgets = runs[0]?.incumbents.length ?? 0;
  return Array.from({ length: budgets }, (_, i) => {
    const worst = smallerIsBetter ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
    const values = runs.map(({ incumbents }) => incumbents[i] ?? worst).sort((a, b) => a - b);
    const at = (share: number): number | null => quantile(values, share);
    return { budget: i + 1, q25: at(0.25), median: at(0.5), q75: at(0.75) };
  });
}

function quantile(sorted: readonly number[], share: number): number | null {
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? Number.NaN;
  const value = below === above ? below : below + (place - Math.floor(place)) * (above - below);
  return Number.isFinite(value) ? value : null;
}
