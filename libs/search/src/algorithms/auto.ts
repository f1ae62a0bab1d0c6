/**
 * The default searcher: promotion ASHA (`asha.ts`) with trials that a model of one rung proposes, and a first rung that
 * rises when early values do not predict later ones (`halving/first-rung.ts`).
 *
 * The model uses the highest rung that enough trials have reached. It orders the trials by their values at that rung,
 * and promoted trials by their later values. Until enough trials are above the lowest rung, trials are drawn at random.
 * Beyond ASHA, a trial that reaches a rung with the best value so far continues at once.
 */
import type { AutoSearcher } from "@trainyard/experiment-config";
import { halving } from "../halving/halving.ts";
import type { Halving } from "../halving/state.ts";
import { type HalvingPlan, halvingBracket, risingUnits } from "../halving/plan.ts";
import { comparedAt, rankedFrom } from "./rung-model/ranked-trials.ts";
import { type Ranked, rungProposer } from "./rung-model/rung-model.ts";
import { trustPlan } from "./trust-plan.ts";

function autoPlan(config: AutoSearcher): HalvingPlan {
  const { max_time, min_time, divisor, max_trials, max_concurrent_trials } = config;
  const units = risingUnits(min_time, max_time, divisor);
  const bracket = halvingBracket(units, max_trials, max_concurrent_trials, divisor);
  return {
    form: "promote",
    divisor,
    brackets: [bracket],
    concurrent: bracket.concurrent,
    bestGoesOn: true,
    ...trustPlan(max_trials),
  };
}

/** The number of trials with a finite value that a rung needs before the model uses it. */
const ENOUGH = 10;
/** The lowest rung that the model uses: values at the rung below only show which trials start fast. */
const LOWEST = 1;

const proposer = rungProposer({
  name: "auto",
  restsOn: highestRung,
  drawnShare: 0.25,
  good: { share: 0.15, min: () => 1, max: 25 },
  othersAreAll: true,
  candidates: 24,
  widening: 1,
  widthOf: () => 0.2,
  widthMin: 0.02,
});

/** The highest rung with enough trials; null if that is the lowest of several rungs. */
function highestRung(halving: Halving): Ranked | null {
  const rungs = halving.brackets[0]?.rungs.length ?? 0;
  const lowest = Math.max(halving.trust.first, Math.min(LOWEST, rungs - 1));
  for (let rung = rungs - 1; rung >= lowest; rung -= 1) {
    const count = comparedAt(halving, rung);
    if (count >= ENOUGH) return { rung, count, trials: rankedFrom(halving, rung) };
  }
  return null;
}

export const auto = halving("auto", 1, autoPlan, proposer);
