/**
 * The two sets that a tree of Parzen estimators compares: the best fifth of the trials that have ended, at most 40, and
 * all others. Trials that run are among the others, as are those that failed: a model that forgot them would propose
 * the same place again and again. The better a good trial is, the more it weighs: the kth of n by log((n + 1) / k), as
 * parents do in evolution strategies (N. Hansen, "The CMA evolution strategy: a tutorial", 2016, §3.2). S. Watanabe
 * (2023) weighs by improvement, which one value far off can spoil.
 */
import { TrialOutcome } from "@trainyard/contracts/events";
import { log } from "../../numeric/math.ts";
import { type RunningSearch, trialOf } from "../../state.ts";
import { bestOfSeveral } from "../several-objectives.ts";
import { GOOD_MAX, type ModelState, placeOfTrial } from "../model-state.ts";

/** The oldest trial first, and what each counts beside the prior's 1. */
export type Sample = {
  readonly trials: readonly number[];
  readonly places: readonly (readonly number[])[];
  readonly weights: Float64Array;
};

/** The newest trials count fully, the older the less (hyperopt's "linear forgetting"). */
const UNFORGOTTEN = 25;
/**
 * So many of the newest trials are each among the others; of those before, each stands for as many as a power of two.
 */
const NEWEST = 500;
const OLDER_MAX = 500;

/** How many trials count as good. */
export function goodCount({ ended, ranked, several }: ModelState): number {
  return Math.min(Math.ceil(ended / 5), GOOD_MAX, (several?.contenders ?? ranked).length);
}

export type Samples = { readonly good: Sample; readonly others: Sample };

/** `more` are places that are proposed together with the next one. */
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

/** The good trials, the best first. */
function bestTrials(memory: ModelState): readonly number[] {
  const { ranked, several } = memory;
  const count = goodCount(memory);
  if (several !== null) return bestOfSeveral(several, count);
  return ranked.slice(0, count).map(({ trial }) => trial);
}

/**
 * `best` has the best first. The weights are 1 in the mean, and all 1 where several metrics leave no order within a
 * front.
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
  /** `number` counts the trials of earlier experiments first. */
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
  // A power of two, so that the trials that stand for others stay the same from one decision to the next.
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

/** Weights of `count` trials by age: 1 for the newest 25, a ramp up to 1 from 1 / count for those before. */
function forgetting(count: number): Float64Array {
  const ramp = Math.max(0, count - UNFORGOTTEN);
  const weights = new Float64Array(count).fill(1);
  for (let i = 0; i < ramp; i += 1) {
    weights[i] = 1 / count + (ramp === 1 ? 0 : (i * (1 - 1 / count)) / (ramp - 1));
  }
  return weights;
}
