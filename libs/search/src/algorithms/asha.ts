/**
 * ASHA: asynchronous successive halving with random configurations (Li et al., "A system for massively parallel
 * hyperparameter tuning", arXiv 1810.05934).
 *
 * In promotion form a trial is suspended at each rung. Of the n trials that have reached a rung, the best floor(n /
 * divisor) are resumed from their checkpoints as soon as they are among the best. In stopping form (`resume: false`) a
 * trial continues if it is among the best max(floor(n / divisor), 1) when it arrives; otherwise it ends.
 *
 * Beyond the paper: if no more trial will reach a rung that is too small to promote any, its best trial continues, so
 * that a search always trains one trial to its end.
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

export const asha = halving("asha", 1, ashaPlan);
