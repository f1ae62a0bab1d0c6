/** The evidence of successive halving's decisions about a trial, as recorded in its events. */
import type { JsonObject } from "@trainyard/experiment-config";
import { entriesBetween, entryAt, placeOf, type Ranking } from "../ranking.ts";
import { type Halving, type Place, rungOf, unitsOf, WORST } from "./state.ts";
import { isClosed, promotedCount } from "./rungs.ts";
import { correlationLater, correlationNext } from "./first-rung.ts";

/** Enough to show what a trial was compared with; all trials of a large rung would not fit into an event. */
const NEIGHBOURS_EACH_SIDE = 4;

/**
 * Returns the rank of a trial in a rung that it has reached, from 1, its neighbours, and the `cutoff`, the last value
 * that the rung promotes.
 */
export function standing(
  halving: Halving,
  trial: number,
  { bracket, rung, brought }: Place,
  smallerIsBetter: boolean,
): JsonObject {
  const own = brought[rung] ?? { value: WORST, order: 0, trial };
  const { all } = rungOf(halving, bracket, rung);
  const place = placeOf(all, own);
  const { kept, cutoff } = passageOf(halving, bracket, rung, smallerIsBetter);
  return {
    bracket,
    rung,
    units: unitsOf(halving, bracket, rung),
    value: shownValue(own.value, smallerIsBetter),
    rank: place + 1,
    of: all.size,
    kept,
    divisor: halving.plan.divisor,
    ...trustShown(halving, bracket),
    cutoff,
    neighbours: neighboursOf(all, place, smallerIsBetter),
  };
}

/** Returns the number of trials that a rung promotes, and the value of the last of these; null for none. */
export function passageOf(
  halving: Halving,
  bracket: number,
  rung: number,
  smallerIsBetter: boolean,
): { readonly kept: number; readonly cutoff: number | null } {
  const { all } = rungOf(halving, bracket, rung);
  const atLeastOne = halving.plan.form === "stop" || isClosed(halving, bracket, rung);
  const kept = promotedCount(halving, all.size, atLeastOne);
  const last = entryAt(all, kept - 1);
  return { kept, cutoff: last === undefined ? null : shownValue(last.value, smallerIsBetter) };
}

/** Returns a ranked value as it was reported; null if it was not finite. */
export function shownValue(ranked: number, smallerIsBetter: boolean): number | null {
  if (ranked === WORST) return null;
  return smallerIsBetter ? ranked : 0 - ranked;
}

function neighboursOf(all: Ranking, place: number, smallerIsBetter: boolean): JsonObject[] {
  const from = Math.max(0, place - NEIGHBOURS_EACH_SIDE);
  return entriesBetween(all, from, place + 1 + NEIGHBOURS_EACH_SIDE)
    .filter((_, index) => from + index !== place)
    .map(({ trial, value }) => ({ trial, value: shownValue(value, smallerIsBetter) }));
}

/** The measured correlations of values at the first rung with values at the next rung and at the rung after it. */
function trustShown({ plan, trust }: Halving, bracket: number): JsonObject {
  if (plan.trust === undefined) return {};
  const [next, later] = [correlationNext(trust), correlationLater(trust)];
  return {
    first_rung: plan.brackets[bracket]?.units[trust.first] ?? null,
    trust: next.value,
    trust_measured: next.measured,
    trust_later: later.value,
    trust_later_measured: later.measured,
  };
}
