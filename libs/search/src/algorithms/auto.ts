/**
 * What a search does when nobody says how: promotion ASHA (`asha.ts`) with trials that a model of its first rung proposes,
 * and a first rung that rises when early values do not tell later ones (`halving/trust.ts`). The model orders the trials
 * by their values at the lowest rung that is trusted, and those that have gone on from there by their later ones.
 */
import type { AutoSearcher } from "@trainyard/experiment-config";
import type { Algorithm } from "../algorithm.ts";
import { halving } from "../halving/halving.ts";
import type { Halving } from "../halving/memory.ts";
import { type HalvingPlan, halvingBracket, risingUnits } from "../halving/plan.ts";
import type { TrustPlan } from "../halving/trust.ts";
import { comparedAt, rankedFrom } from "./rung-model/ranked-trials.ts";
import { type Ranked, rungProposer } from "./rung-model/rung-model.ts";

/** Decided by measurement on generated families of learning curves (`test/bench/search`). */
const trust: TrustPlan = {
  probesFirst: 8,
  probeEvery: 15,
  measuredMin: 8,
  measuredMax: 48,
  threshold: 0.4,
  laterProbes: 4,
  laterMin: 4,
  laterThreshold: 0,
  laterShare: 1 / 3,
  probesAfterRise: 8,
};

export function autoPlan(config: AutoSearcher): HalvingPlan {
  const { max_time, min_time, divisor, max_trials, max_concurrent_trials } = config;
  const units = risingUnits(min_time, max_time, divisor);
  const bracket = halvingBracket(units, max_trials, max_concurrent_trials, divisor);
  return {
    form: "promote",
    divisor,
    brackets: [bracket],
    concurrent: bracket.concurrent,
    // A small search spends no more than a third of its trials on the question.
    trust: { ...trust, probesFirst: Math.min(trust.probesFirst, Math.ceil(max_trials / 3)) },
  };
}

/** Trials at the first rung before the model is asked. */
const STARTUP = 10;

const proposer = rungProposer({
  name: "auto",
  restsOn: firstRung,
  drawnShare: 0.25,
  good: { share: 0.15, min: () => 1, max: 25 },
  othersAreAll: true,
  candidates: 24,
  widening: 1,
  widthOf: () => 0.2,
  widthMin: 0.02,
});

function firstRung(halving: Halving): Ranked | null {
  const rung = halving.trust.first;
  const count = comparedAt(halving, rung);
  return count < STARTUP ? null : { rung, count, trials: rankedFrom(halving, rung) };
}

export const auto: Algorithm = halving(
  "auto",
  1,
  (config) => autoPlan(config as AutoSearcher),
  proposer,
);
