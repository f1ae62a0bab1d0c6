/** Decides which trials a rung promotes, and when it is closed. */
import { entryAt, placeOf } from "../ranking.ts";
import { mayCreate } from "./brackets.ts";
import { type Halving, rungOf } from "./state.ts";

/** The number of `entries` that the rung promotes: at least one if `atLeastOne`. */
export function promotedCount(halving: Halving, entries: number, atLeastOne: boolean): number {
  return Math.max(Math.floor(entries / halving.plan.divisor), atLeastOne ? 1 : 0);
}

/**
 * Whether no other trial can reach the rung: all trials of the bracket were proposed, and none is on its way to this
 * rung or a lower one, or can be promoted from a lower one.
 */
export function isClosed(halving: Halving, bracket: number, rung: number): boolean {
  if (mayCreate(halving, bracket)) return false;
  const rungs = halving.brackets[bracket]?.rungs ?? [];
  return rungs.every(
    ({ coming, waiting }, i) => i > rung || (coming === 0 && (i === rung || waiting.size === 0)),
  );
}

/** The trial that the rung promotes next; undefined for none. */
export function promotable(halving: Halving, bracket: number, rung: number): number | undefined {
  const { all, waiting } = rungOf(halving, bracket, rung);
  if (waiting.size === 0) return undefined;
  const best = entryAt(waiting, 0);
  if (best === undefined) return undefined;
  const closed = isClosed(halving, bracket, rung);
  if (halving.plan.form === "wait" && !closed) return undefined;
  return placeOf(all, best) < promotedCount(halving, all.size, closed) ? best.trial : undefined;
}
