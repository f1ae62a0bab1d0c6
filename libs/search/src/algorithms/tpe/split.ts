/**
 * The two sets that a tree of Parzen estimators compares: the best 15 % of the trials that have ended, at most 25, and
 * all others. Trials that run are among the others, as are those that failed: a model that forgot them would propose the
 * same place again and again.
 */
import { TrialOutcome } from "@trainyard/contracts/events";
import { type RunningSearch, trialOf } from "../../state.ts";
import { GOOD_MAX, modelMemory, placeOfTrial } from "../model-memory.ts";

/** Places in the order of their age, the oldest first, and what each counts. */
export type Sample = {
  readonly places: readonly (readonly number[])[];
  readonly weights: readonly number[];
};

/** The newest trials count fully, the older the less (hyperopt's "linear forgetting"). */
const UNFORGOTTEN = 25;
/** More trials than this among the others are represented by the newest half of it and as many of the older. */
const OTHERS_MAX = 1_000;

/** `more` are places that are proposed together with the next one. */
export function splitTrials(
  search: RunningSearch,
  more: readonly (readonly number[])[],
): { readonly good: Sample; readonly others: Sample } {
  const memory = modelMemory(search.memory);
  const { places, ended, ranked, earlier } = memory;
  const goodCount = Math.min(Math.ceil((ended * 3) / 20), GOOD_MAX);
  const best = ranked.slice(0, goodCount).map(({ trial }) => trial);
  const isGood = new Set(best);
  const good = best.sort((a, b) => a - b).map((trial) => placeOfTrial(memory, trial));
  const others: (readonly number[])[] = [];
  const represents: number[] = [];
  const add = (number: number, weight: number): void => {
    const trial = number - earlier;
    if (isGood.has(trial) || trialOf(search, trial)?.outcome === TrialOutcome.CANCELED) return;
    others.push(placeOfTrial(memory, trial));
    represents.push(weight);
  };
  const all = places.size;
  const newest = all <= OTHERS_MAX ? all : OTHERS_MAX / 2;
  const older = all - newest;
  const chosen = all - newest === 0 ? 0 : OTHERS_MAX / 2;
  for (let i = 0; i < chosen; i += 1) {
    add(Math.floor(((i + 0.5) * older) / chosen) + 1, older / chosen);
  }
  for (let number = older + 1; number <= all; number += 1) add(number, 1);
  for (const place of more) {
    others.push(place);
    represents.push(1);
  }
  const remembered = forgetting(others.length);
  return {
    good: { places: good, weights: forgetting(good.length) },
    others: {
      places: others,
      weights: represents.map((weight, i) => weight * (remembered[i] ?? 1)),
    },
  };
}

/** Weights of `count` trials by age: 1 for the newest 25, a ramp up to 1 from 1 / count for those before. */
function forgetting(count: number): number[] {
  const ramp = Math.max(0, count - UNFORGOTTEN);
  return Array.from({ length: count }, (_, i) => {
    if (i >= ramp) return 1;
    return 1 / count + (ramp === 1 ? 0 : (i * (1 - 1 / count)) / (ramp - 1));
  });
}
