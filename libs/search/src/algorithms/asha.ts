/**
 * ASHA: asynchronous successive halving with random configurations (Li et al., "A system for massively parallel
 * hyperparameter tuning", arXiv 1810.05934). In promotion form a trial is suspended at each rung, and the best
 * floor(n / divisor) of the n that have reached a rung are resumed from their checkpoints, whenever they become the
 * best; in stopping form (`resume: false`) it continues if it is among the best max(floor(n / divisor), 1) when it
 * arrives, and ends otherwise. Beyond the paper: when no trial reaches a rung any more and it is too small to promote
 * anyone, the best continues, so that a search always trains one trial to its end.
 */
import type { AshaSearcher } from "@trainyard/experiment-config";
import { halving } from "../halving/halving.ts";
import { type HalvingPlan, halvingBracket, risingUnits } from "../halving/plan.ts";

export function ashaPlan(config: AshaSearcher): HalvingPlan {
  const { max_time, min_time, divisor, max_trials, max_concurrent_trials, resume } = config;
  const units = risingUnits(min_time, max_time, divisor);
  const bracket = halvingBracket(units, max_trials, max_concurrent_trials, divisor);
  return {
    form: resume ? "promote" : "stop",
    divisor,
    brackets: [bracket],
    concurrent: bracket.concurrent,
  };
}

export const asha = halving("asha", 1, (config) => ashaPlan(config as AshaSearcher));
