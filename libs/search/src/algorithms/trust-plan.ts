/**
 * The thresholds by which a search measures whether it can trust its first rung (`halving/first-rung.ts`), for
 * searchers that suspend trials at rungs.
 */
import type { TrustLevel } from "../halving/first-rung.ts";
import type { HalvingPlan } from "../halving/plan.ts";

/** The values were chosen by measurements on generated families of learning curves (`test/bench/search`). */
const trust = {
  levels: [
    { asked: 5, trusted: 0.9, doubted: 0 },
    { asked: 8, trusted: 0.7, doubted: 0.25 },
    { asked: 12, trusted: 0.4, doubted: 0.4 },
  ],
  /** The correlation that decides once no more trials can be promoted to measure it. */
  threshold: 0.4,
  later: 4,
  laterThreshold: 0,
  laterShare: 1 / 3,
} as const;

/**
 * Returns the plan for a search of this many trials: measuring takes at most a third of them, and small searches do not
 * measure.
 */
export function trustPlan(trials: number): Pick<HalvingPlan, "trust"> {
  const { threshold, levels, ...later } = trust;
  const possible: TrustLevel[] = levels.filter(({ asked }) => 3 * asked <= trials);
  const last = possible.pop();
  if (last === undefined) return {};
  const clear = { ...last, trusted: threshold, doubted: threshold };
  return { trust: { ...later, levels: [...possible, clear] } };
}
