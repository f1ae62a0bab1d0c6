/** The training data of the Gaussian process: the ended trials, as points of the box with standardised values. */
import { TrialOutcome } from "@trainyard/contracts/events";
import { axesOfPlan, coordinatesOf } from "../../space/axes.ts";
import { type RunningSearch, trialOf } from "../../state.ts";
import { type ModelState, placeOfTrial } from "../model-state.ts";

export type Learned = {
  readonly inputs: readonly (readonly number[])[];
  /** The standardised values: smaller is better, the mean is 0 and the deviation 1. */
  readonly values: readonly number[];
  /** The mean and scale of the standardisation. */
  readonly centre: number;
  readonly spread: number;
  /** The inputs of the running trials, at most the newest `PENDING_MAX`. */
  readonly pending: readonly (readonly number[])[];
};

/** The most results that the model learns from, since its cost grows with their cube. */
const RESULTS_MAX = 500;
const PENDING_MAX = 50;

type Result = { readonly trial: number; readonly value: number };

/** Returns the model's inputs; the search must have at least two different results. */
export function learnedFrom(search: RunningSearch<ModelState>): Learned {
  const { memory } = search;
  const axes = axesOfPlan(search.plan);
  const inputOf = (trial: number): readonly number[] =>
    coordinatesOf(axes, placeOfTrial(memory, trial));
  const { results, running } = trialsOf(search);
  const chosen = mostTelling(results);
  return {
    inputs: chosen.map(({ trial }) => inputOf(trial)),
    ...standardised(chosen.map(({ value }) => value)),
    pending: running.slice(-PENDING_MAX).map(inputOf),
  };
}

function trialsOf(search: RunningSearch): {
  readonly results: readonly Result[];
  readonly running: readonly number[];
} {
  const { smallerIsBetter, earlier, metric } = search.plan;
  const good: Result[] = earlier.map(({ values }, index) => ({
    trial: index + 1 - earlier.length,
    value: (smallerIsBetter ? 1 : -1) * (values[metric] ?? Number.NaN),
  }));
  const bad: number[] = [];
  const running: number[] = [];
  for (let trial = 1; trial <= search.trials.length; trial += 1) {
    const { outcome = 0, best = null } = trialOf(search, trial) ?? {};
    const trained = outcome === TrialOutcome.COMPLETED || outcome === TrialOutcome.STOPPED_EARLY;
    if (outcome === TrialOutcome.UNSPECIFIED) running.push(trial);
    else if (trained && best !== null) good.push({ trial, value: smallerIsBetter ? best : -best });
    else if (outcome !== TrialOutcome.CANCELED) bad.push(trial);
  }
  // A failed trial counts as the worst value of the trials that did not fail.
  const worst = good.reduce((most, { value }) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  const failed = good.length === 0 ? [] : bad.map((trial) => ({ trial, value: worst }));
  return { results: [...good, ...failed].sort((a, b) => a.trial - b.trial), running };
}

/** Selects the best half of the results, and the newest of the others. */
function mostTelling(results: readonly Result[]): readonly Result[] {
  if (results.length <= RESULTS_MAX) return results;
  const best = [...results].sort((a, b) => a.value - b.value || a.trial - b.trial);
  const kept = best.slice(0, RESULTS_MAX / 2);
  const newest = best
    .slice(RESULTS_MAX / 2)
    .sort((a, b) => b.trial - a.trial)
    .slice(0, RESULTS_MAX / 2);
  return [...kept, ...newest].sort((a, b) => a.trial - b.trial);
}

function standardised(raw: readonly number[]): Pick<Learned, "values" | "centre" | "spread"> {
  const largest = raw.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  // Values are divided by half the largest, so that no sum or square of huge values overflows.
  const unit = largest / 2 > 0 ? largest / 2 : 1;
  const share = 1 / raw.length;
  const mean = raw.reduce((sum, value) => sum + (value / unit) * share, 0);
  const variance = raw.reduce((sum, value) => sum + (value / unit - mean) ** 2 * share, 0);
  const deviation = Math.max(Math.sqrt(variance), Number.MIN_VALUE);
  const values = raw.map((value) => (value / unit - mean) / deviation);
  return { values, centre: mean * unit, spread: deviation * unit };
}
