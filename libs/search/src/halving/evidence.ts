/** Why successive halving decides as it does about a trial, as its events carry it. */
import type { Json, JsonObject } from "@trainyard/experiment-config";
import { type Entry, entriesBetween, entryAt, placeOf, type Ranking } from "../ranking.ts";
import { type Halving, isClosed, keptOf, placeOfTrial, rungOf, unitsOf, WORST } from "./memory.ts";

/** Enough to see what a trial was compared with; a rung of 100,000 would not fit into an event. */
const NEIGHBOURS_EACH_SIDE = 8;

/** How a trial stands in a rung that it came to. `rank` counts from 1; `cutoff` is the last value that the rung lets through. */
export function standing(
  halving: Halving,
  trial: number,
  rung: number,
  smallerIsBetter: boolean,
): JsonObject {
  const { bracket, brought } = placeOfTrial(halving, trial);
  const own = brought[rung] ?? { value: WORST, order: 0, trial };
  const { all } = rungOf(halving, bracket, rung);
  const place = placeOf(all, own);
  const of = all.size;
  const atLeastOne = halving.plan.form === "stop" || isClosed(halving, bracket, rung);
  const kept = keptOf(halving, of, atLeastOne);
  const shown = (ranked: number): number | null => shownValue(ranked, smallerIsBetter);
  const last = entryAt(all, kept - 1);
  return {
    bracket,
    rung,
    units: unitsOf(halving, bracket, rung),
    value: shown(own.value),
    rank: place + 1,
    of,
    kept,
    divisor: halving.plan.divisor,
    cutoff: last === undefined ? null : shown(last.value),
    neighbours: neighboursOf(all, place).map((entry) => ({
      trial: entry.trial,
      value: shown(entry.value) as Json,
    })),
  };
}

/** A ranked value as it was reported; null for one that is not finite, or for none. */
function shownValue(ranked: number, smallerIsBetter: boolean): number | null {
  if (ranked === WORST) return null;
  return smallerIsBetter ? ranked : 0 - ranked;
}

function neighboursOf(all: Ranking, place: number): Entry[] {
  return [
    ...entriesBetween(all, place - NEIGHBOURS_EACH_SIDE, place),
    ...entriesBetween(all, place + 1, place + 1 + NEIGHBOURS_EACH_SIDE),
  ];
}
