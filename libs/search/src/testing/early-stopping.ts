/**
 * Helpers for the tests of early stopping: a search whose trials all run, and a reference implementation that reads all
 * reports.
 */
import type {
  EarlyStoppingPolicy,
  SearcherConfig,
  TrialPolicy,
} from "@trainyard/experiment-config";
import { configOf, DrivenSearch, randomOf } from "./searches.ts";

export const median = (more: object = {}): TrialPolicy => ({
  name: "median",
  min_trials: 3,
  grace: 0,
  ...more,
});
export const percentile = (q: number, more: object = {}): TrialPolicy => ({
  name: "percentile",
  percentile: q,
  min_trials: 3,
  grace: 0,
  ...more,
});
export const noImprovement = (patience: number, more: object = {}): TrialPolicy => ({
  name: "no_improvement",
  patience,
  patience_time: null,
  min_delta: 0,
  min_delta_relative: 0,
  grace: 0,
  ...more,
});
export const threshold = (lower: number | null, upper: number | null, grace = 0): TrialPolicy => ({
  name: "threshold",
  lower,
  upper,
  grace,
});
export const pbt = (more: object = {}): TrialPolicy => ({
  name: "pbt",
  quantile: 0.25,
  patience: 2,
  grace: 0,
  ...more,
});
export const notFinite: TrialPolicy = { name: "not_finite" };
export const budget = (more: object): EarlyStoppingPolicy => ({
  name: "budget",
  max_wall_time: null,
  max_slot_hours: null,
  max_trials: null,
  ...more,
});

/** Starts a random search in which this many trials run at a time. */
export function stoppingSearch(
  policies: EarlyStoppingPolicy[],
  trials = 6,
  more: object = {},
): DrivenSearch {
  const search = new DrivenSearch();
  const searcher = { ...randomOf(trials, 0), ...more } as SearcherConfig;
  search.start(configOf(searcher, undefined, policies));
  return search;
}

export type Report = { readonly trial: number; readonly time: number; readonly value: number };

const INF = Number.POSITIVE_INFINITY;
const ranked = (value: number, smaller: boolean): number =>
  Number.isFinite(value) ? (smaller ? value : -value) : INF;

/** Returns a trial's counted reports: with increasing times, and ranked values. */
export function courseOf(reports: readonly Report[], trial: number, smaller: boolean) {
  const course: { time: number; value: number }[] = [];
  for (const report of reports) {
    if (report.trial !== trial || report.time <= (course.at(-1)?.time ?? -INF)) continue;
    course.push({ time: report.time, value: ranked(report.value, smaller) });
  }
  return course;
}

export type NaiveMedian = {
  readonly cutoff: number;
  readonly best: number;
  readonly others: number;
  readonly better: number;
};

/** Computes from all reports the percentile of the others' averages up to a time, and the trial's best value. */
export function naiveComparison(
  reports: readonly Report[],
  trials: number,
  trial: number,
  time: number,
  q: number,
  smaller: boolean,
): NaiveMedian | null {
  const averages: number[] = [];
  for (let other = 1; other <= trials; other += 1) {
    const course = courseOf(reports, other, smaller);
    const upTo = course.filter((report) => report.time <= time);
    if (other === trial || upTo.length === 0 || (course.at(-1)?.time ?? -INF) < time) continue;
    averages.push(upTo.reduce((sum, report) => sum + report.value, 0) / upTo.length);
  }
  averages.sort((a, b) => a - b);
  if (averages.length === 0) return null;
  const best = Math.min(...courseOf(reports, trial, smaller).map(({ value }) => value));
  const position = (q / 100) * (averages.length - 1);
  const low = averages[Math.floor(position)] as number;
  const high = averages[Math.min(Math.floor(position) + 1, averages.length - 1)] as number;
  const share = position - Math.floor(position);
  const cutoff =
    share === 0 || low === high ? low : high === INF ? INF : low + (high - low) * share;
  const better = averages.filter((average) => average < best).length;
  return { cutoff, best, others: averages.length, better };
}
