/**
 * BOHB: a model of one rung inside asynchronous halving (S. Falkner, A. Klein, F. Hutter, "BOHB: Robust and efficient
 * hyperparameter optimization at scale", ICML 2018). Halving is asha's; one trial in three is drawn by chance, and the
 * others come from the model of the highest rung to which two more trials have come than the space has axes.
 */
import type { BohbSearcher } from "@trainyard/experiment-config";
import { halving } from "../halving/halving.ts";
import type { Halving } from "../halving/state.ts";
import type { HalvingPlan } from "../halving/plan.ts";
import { ashaPlan } from "./asha.ts";
import { spreadWidth } from "./rung-model/density.ts";
import { comparedAt, rankedAt } from "./rung-model/ranked-trials.ts";
import { type Ranked, rungProposer } from "./rung-model/rung-model.ts";

export function bohbPlan(config: BohbSearcher): HalvingPlan {
  return ashaPlan({ ...config, name: "asha" });
}

/** The constants are those of the authors' own code. */
const proposer = rungProposer({
  name: "bohb",
  restsOn: highestRung,
  drawnShare: 1 / 3,
  good: { share: 0.15, min: (axes) => axes + 1, max: Number.POSITIVE_INFINITY },
  othersAreAll: false,
  candidates: 64,
  widening: 3,
  widthOf: spreadWidth,
  widthMin: 1e-3,
});

function highestRung(halving: Halving, axes: number): Ranked | null {
  for (let rung = (halving.brackets[0]?.rungs.length ?? 0) - 1; rung >= 0; rung -= 1) {
    const count = comparedAt(halving, rung);
    if (count >= axes + 2) return { rung, count, trials: rankedAt(halving, rung) };
  }
  return null;
}

export const bohb = halving("bohb", 1, (config) => bohbPlan(config as BohbSearcher), proposer);
