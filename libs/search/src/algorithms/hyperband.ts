/**
 * Hyperband: brackets of synchronous halving, from the one that halves most to plain random search (Li et al., JMLR
 * 18-185). A rung promotes its best floor(n / divisor) trials once all trials of the bracket have reached it. Meanwhile
 * free places go to the next brackets, so that no place is idle. `max_trials` scales the round.
 */
import type { HyperbandSearcher } from "@trainyard/experiment-config";
import { halving, trialsOf } from "../halving/halving.ts";
import { type HalvingPlan, hyperbandBrackets } from "../halving/plan.ts";

function hyperbandPlan(config: HyperbandSearcher): HalvingPlan {
  const { max_time, divisor, max_trials, max_concurrent_trials } = config;
  const plan: HalvingPlan = {
    form: "wait",
    divisor,
    brackets: hyperbandBrackets(max_time, divisor, max_trials),
    concurrent: max_concurrent_trials,
  };
  return max_concurrent_trials === 0 ? { ...plan, concurrent: trialsOf(plan) } : plan;
}

export const hyperband = halving("hyperband", 1, hyperbandPlan);
