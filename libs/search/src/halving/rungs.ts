/** Whom a rung lets through, and when it is over. */
import { entryAt, placeOf } from "../persistent/ranking.ts";
import { itemAt } from "../persistent/vector.ts";
import { type Halving, mayCreate, rungOf } from "./memory.ts";
import { isProbe } from "./trust.ts";

/** How many of so many the rung lets through: at least one where `atLeastOne`. */
export function keptOf(halving: Halving, entries: number, atLeastOne: boolean): number {
  return Math.max(Math.floor(entries / halving.plan.divisor), atLeastOne ? 1 : 0);
}

/**
 * Whether nobody comes to the rung any more: all trials of the bracket have been proposed, and none is on its way to it,
 * or to one below it, or can still be promoted from one.
 */
export function isClosed(halving: Halving, bracket: number, rung: number): boolean {
  if (mayCreate(halving, bracket)) return false;
  const rungs = halving.brackets[bracket]?.rungs ?? [];
  return rungs.every(
    ({ coming, waiting }, i) => i > rung || (coming === 0 && (i === rung || waiting.size === 0)),
  );
}

/** The trial that the rung promotes next, if any. */
export function promotable(halving: Halving, bracket: number, rung: number): number | undefined {
  const { all, waiting } = rungOf(halving, bracket, rung);
  if (waiting.size === 0) return undefined;
  const best = entryAt(waiting, 0);
  if (best === undefined) return undefined;
  const closed = isClosed(halving, bracket, rung);
  if (halving.plan.form === "wait" && !closed) return undefined;
  return placeOf(all, best) < keptOf(halving, all.size, closed) ? best.trial : undefined;
}

/** Whether a trial that has come to a rung goes on whatever its value, to tell what the first one is worth. */
export function isProbed({ plan, trust, places }: Halving, trial: number): boolean {
  if (plan.trust === undefined || !isProbe(plan.trust, trial)) return false;
  const rung = itemAt(places, trial - 1)?.rung;
  if (rung === trust.first) return trust.next.measured.length < plan.trust.measuredMax;
  return rung === trust.first + 1 && trust.laterProbes?.includes(trial) === true;
}
