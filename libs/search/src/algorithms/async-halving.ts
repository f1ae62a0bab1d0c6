/**
 * Asynchronous halving in one bracket of `num_rungs` rungs. The stopping form is that of Determined 0.38
 * (`asha_stopping.go`). The promotion form (`resume: true`) is that of Determined until 0.37 (`asha.go`).
 */
import type { AsyncHalvingSearcher } from "@trainyard/experiment-config";
import { halving } from "../halving/halving.ts";
import { type HalvingPlan, halvingBracket, rungUnits } from "../halving/plan.ts";

function asyncHalvingPlan(config: AsyncHalvingSearcher): HalvingPlan {
  const { num_rungs, max_time, divisor, max_trials, max_concurrent_trials, resume } = config;
  const units = rungUnits(num_rungs, max_time, divisor);
  const bracket = halvingBracket(units, max_trials, max_concurrent_trials, divisor);
  return {
    form: resume ? "promote" : "stop",
    divisor,
    brackets: [bracket],
    concurrent: bracket.concurrent,
  };
}

export const asyncHalving = halving("async_halving", 1, asyncHalvingPlan);
