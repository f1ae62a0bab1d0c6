/**
 * Adaptive ASHA: asynchronous halving in several brackets, which differ in how early they stop trials. Each bracket has
 * a share of the trials and of the concurrency. Source: Determined 0.38, `master/pkg/searcher/adaptive_asha.go`. The
 * brackets have the two forms of `async_halving`.
 */
import type { AdaptiveAshaSearcher } from "@trainyard/experiment-config";
import { halving } from "../halving/halving.ts";
import { adaptiveBrackets, adaptiveRungs, type HalvingPlan } from "../halving/plan.ts";

function adaptiveAshaPlan(config: AdaptiveAshaSearcher): HalvingPlan {
  const { mode, max_rungs, max_time, max_trials, max_concurrent_trials, divisor } = config;
  const given = config.bracket_rungs;
  const limits = { maxRungs: max_rungs, maxTime: max_time, maxTrials: max_trials, divisor };
  const brackets = adaptiveBrackets({
    bracketRungs: given.length > 0 ? given : adaptiveRungs(mode, limits),
    maxTime: max_time,
    maxTrials: max_trials,
    maxConcurrent: max_concurrent_trials,
    divisor,
  });
  return {
    form: config.resume ? "promote" : "stop",
    divisor,
    brackets,
    concurrent: brackets.reduce((sum, bracket) => sum + bracket.concurrent, 0),
  };
}

export const adaptiveAsha = halving("adaptive_asha", 1, adaptiveAshaPlan);
