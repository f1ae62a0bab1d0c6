/** The trials of a rung, the best first. */
import { type Halving, placeOfTrial, rungOf, WORST } from "../../halving/state.ts";
import { entriesBetween, entryAt } from "../../ranking.ts";

const BRACKET = 0;
const CHUNK = 32;

/** Yields the trials of the rung by their values at this rung only. */
export function* rankedAt(halving: Halving, rung: number): Generator<number> {
  const { all } = rungOf(halving, BRACKET, rung);
  for (let from = 0; from < all.size; from += CHUNK) {
    for (const { trial, value } of entriesBetween(all, from, from + CHUNK)) {
      if (value === WORST) return;
      yield trial;
    }
  }
}

/**
 * Yields the trials by their values at this rung. The trials that continued from it keep their positions as a group,
 * but within the group they are ordered by their values at the next rung, and so on. Every value therefore counts, but
 * is compared only within its rung: having continued is no advantage over a trial that could not continue yet.
 */
export function* rankedFrom(halving: Halving, rung: number): Generator<number> {
  const wentOn = rankedAboveOf(halving, rung);
  for (const trial of rankedAt(halving, rung)) {
    const further = placeOfTrial(halving, trial).brought.length > rung + 1;
    const next = further ? wentOn.next() : null;
    if (next === null) yield trial;
    else if (next.done !== true) yield next.value;
  }
}

function rankedAboveOf(halving: Halving, rung: number): Generator<number> {
  const isTop = rung + 1 >= (halving.brackets[BRACKET]?.rungs.length ?? 0);
  return isTop ? rankedAt(halving, rung + 1) : rankedFrom(halving, rung + 1);
}

/** The number of trials in the rung with a finite value. */
export function comparedAt(halving: Halving, rung: number): number {
  const { all } = rungOf(halving, BRACKET, rung);
  let low = 0;
  let high = all.size;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (entryAt(all, middle)?.value === WORST) high = middle;
    else low = middle + 1;
  }
  return low;
}
