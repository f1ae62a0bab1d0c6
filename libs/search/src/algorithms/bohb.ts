/**
 * BOHB: a model of one rung inside asynchronous halving (S. Falkner, A. Klein, F. Hutter, "BOHB: Robust and efficient
 * hyperparameter optimization at scale", ICML 2018).
 *
 * Trials are halved as in `asha`. One trial in three is drawn at random. The others come from the model of the highest
 * rung that has at least two more trials than the space has axes. The search hedges against learning curves that
 * cross: the first rung rises when early values do not predict later ones, and the model never uses the lowest of
 * several rungs. The paper hedges by the brackets of hyperband instead.
 */
import type { BohbSearcher } from "@trainyard/experiment-config";
import { halving } from "../halving/halving.ts";
import type { HalvingPlan } from "../halving/plan.ts";
import type { Halving } from "../halving/state.ts";
import { ashaPlan } from "./asha.ts";
import { spreadWidth } from "./rung-model/density.ts";
import { comparedAt, rankedAt } from "./rung-model/ranked-trials.ts";
import { type Ranked, rungProposer, type RungModel } from "./rung-model/rung-model.ts";
import { trustPlan } from "./trust-plan.ts";

/** The constants of the authors' implementation. */
const model: Omit<RungModel, "restsOn"> = {
  name: "bohb",
  drawnShare: 1 / 3,
  good: { share: 0.15, min: (axes) => axes + 1, max: Number.POSITIVE_INFINITY },
  othersAreAll: false,
  candidates: 64,
  widening: 3,
  widthOf: spreadWidth,
  widthMin: 1e-3,
};

/** The highest rung, from `lowest` up, that has at least two more trials than the space has axes. */
function highestRung(halving: Halving, axes: number, lowest: number): Ranked | null {
  for (let rung = rungsOf(halving) - 1; rung >= lowest; rung -= 1) {
    const count = comparedAt(halving, rung);
    if (count >= axes + 2) return { rung, count, trials: rankedAt(halving, rung) };
  }
  return null;
}

const rungsOf = ({ brackets }: Halving): number => brackets[0]?.rungs.length ?? 0;

/**
 * In stopping form a stopped trial cannot show its later values, so only suspended trials can measure the first rung.
 */
function bohbPlan(config: BohbSearcher): HalvingPlan {
  const plan = ashaPlan({ ...config, name: "asha" });
  return { ...plan, ...(config.resume ? trustPlan(config.max_trials) : {}) };
}

export const bohb = halving(
  "bohb",
  1,
  bohbPlan,
  rungProposer({
    ...model,
    restsOn: (search, axes) => {
      const lowest = Math.max(search.trust.first, Math.min(1, rungsOf(search) - 1));
      return highestRung(search, axes, lowest);
    },
  }),
);
