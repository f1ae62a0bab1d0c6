/** The measured trust in the first rung (`halving/first-rung.ts`), for searchers whose trials wait at rungs. */
import type { TrustLevel } from "../halving/first-rung.ts";
import type { HalvingPlan } from "../halving/plan.ts";

/** Decided by measurement on generated families of learning curves (`test/bench/search`). */
const trust = {
  levels: [
    { asked: 5, trusted: 0.9, doubted: 0 },
    { asked: 8, trusted: 0.7, doubted: 0.25 },
    { asked: 12, trusted: 0.4, doubted: 0.4 },
  ],
  /** Where no more can be asked. */
  threshold: 0.4,
  later: 4,
  laterThreshold: 0,
  laterShare: 1 / 3,
} as const;

/** A search spends no more than a third of its trials on the question; a small one does not ask it. */
export function trustPlan(trials: number): Pick<HalvingPlan, "trust"> {
  const { threshold, levels, ...later } = trust;
  const possible: TrustLevel[] = levels.filter(({ asked }) => 3 * asked <= trials);
  const last = possible.pop();
  if (last === undefined) return {};
  const clear = { ...last, trusted: threshold, doubted: threshold };
  return { trust: { ...later, levels: [...possible, clear] } };
}
