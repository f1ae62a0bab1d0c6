/**
 * The two sets that a tree of Parzen estimators compares: the best fifth of the ended trials, at most 40, and all other
 * trials. Running and failed trials belong to the others: a model without them would propose the same place again and
 * again.
 *
 * A better good trial has more weight: log((n + 1) / k) for the kth of n, as for parents in evolution strategies (N.
 * Hansen, "The CMA evolution strategy: a tutorial", 2016, §3.2). S. Watanabe (2023) weighs by improvement, which a
 * single outlier can distort.
 */
import { TrialOutcome } from "@trainyard/contracts/events";
import { log } from "../../numeric/math.ts";
import { type RunningSearch, trialOf } from "../../state.ts";
import { bestOfSeveral } from "../several-objectives.ts";
import { GOOD_MAX, type ModelState, placeOfTrial } from "../model-state.ts";

/** Trials, the oldest first, with their weights relative to the prior's weight of 1. */
export type Sample = {
  readonly trials: readonly number[];
  readonly places: readonly (readonly number[])[];
  readonly weights: Float64Array;
};

/** The newest trials have full weight, older ones less (hyperopt's "linear forgetting"). */
const UNFORGOTTEN = 25;
/** The newest trials are all included. Of older trials, each included one represents a power of two. */
const NEWEST = 500;
const OLDER_MAX = 500;

/** The number of trials that count as good. */
export function goodCount({ ended, ranked, several }: ModelState): number {
  return Math.min(Math.ceil(ended / 5), GOOD_MAX, (several?.contenders ?? ranked).length);
}

export type Samples = { readonly good: Sample; readonly others: Sample };

/** Splits the trials; `more` are places that are proposed together with the next trial. */
export function splitTrials(
  search: RunningSearch<ModelState>,
  more: readonly (readonly number[])[],
): Samples {
  const { memory } = search;
  const best = bestTrials(memory);
  const isWeighed = memory.several === null;
  return {
    good: goodOf(best, memory, isWeighed),
    others: othersOf(search, memory, new Set(best), more),
  };
}

/** The numbers of the good trials, the best first. */
function bestTrials(memory: ModelState): readonly number[] {
  const { ranked, several } = memory;
  const count = goodCount(memory);
  if (several !== null) return bestOfSeveral(several, count);
  return ranked.slice(0, count).map(({ trial }) => trial);
}

/**
 * Weighs the good trials, the best first. The mean weight is 1; without `isWeighed`, every weight is 1, since several
 * metrics order no trials within a front.
 */
function goodOf(best: readonly number[], memory: ModelState, isWeighed: boolean): Sample {
  const count = best.length;
  const raw = best.map((_, rank) => (isWeighed ? log((count + 1) / (rank + 1)) : 1));
  const mean = raw.reduce((sum, weight) => sum + weight, 0) / count;
  const inOrder = best
    .map((trial, rank) => ({ trial, weight: (raw[rank] as number) / mean }))
    .sort((a, b) => a.trial - b.trial);
  return {
    trials: inOrder.map(({ trial }) => trial),
    places: inOrder.map(({ trial }) => placeOfTrial(memory, trial)),
    weights: Float64Array.from(inOrder, ({ weight }) => weight),
  };
}

function othersOf(
  search: RunningSearch,
  memory: ModelState,
  good: ReadonlySet<number>,
  more: readonly (readonly number[])[],
): Sample {
  const trials: number[] = [];
  const chosen: (readonly number[])[] = [];
  const represents: number[] = [];
  const anyCanceled = search.outcomes.canceled > 0;
  const { places, earlier } = memory;
  /** Adds a trial; `number` counts from the first trial of earlier experiments. */
  const add = (number: number, weight: number): void => {
    const trial = number - earlier;
    if (good.has(trial)) return;
    if (anyCanceled && trialOf(search, trial)?.outcome === TrialOutcome.CANCELED) return;
    trials.push(trial);
    chosen.push(placeOfTrial(memory, trial));
    represents.push(weight);
  };
  const all = places.length;
  const older = Math.max(0, all - NEWEST);
  // The stride is a power of two, so that the representatives stay the same from one decision to the next.
  let stride = 1;
  while (older / stride > OLDER_MAX) stride *= 2;
  for (let number = stride; number <= older; number += stride) add(number, stride);
  for (let number = older + 1; number <= all; number += 1) add(number, 1);
  for (const [i, place] of more.entries()) {
    trials.push(all - earlier + 1 + i);
    chosen.push(place);
    represents.push(1);
  }
  const weights = forgetting(trials.length);
  for (let i = 0; i < weights.length; i += 1)
    weights[i] = (weights[i] as number) * (represents[i] as number);
  return { trials, places: chosen, weights };
}

/** Returns weights by age: 1 for the newest 25 trials, and a ramp from 1 / count to 1 for the older ones. */
function forgetting(count: number): Float64Array {
  const ramp = Math.max(0, count - UNFORGOTTEN);
  const weights = new Float64Array(count).fill(1);
  for (let i = 0; i < ramp; i += 1) {
    weights[i] = 1 / count + (ramp === 1 ? 0 : (i * (1 - 1 / count)) / (ramp - 1));
  }
  return weights;
}
