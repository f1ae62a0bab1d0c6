/**
 * Quasi-random search: trial n is point n - 1 of a Sobol sequence that the seed scrambles (`sobol/sequence.ts`), so that
 * the trials fill the space evenly where random ones leave gaps and clusters. A dimension for each hyperparameter with a
 * choice, in the order of sorted keys; those beyond the table's 128 are drawn as random search draws them. Proposals,
 * replacements and the end are those of random search.
 */
import type { HyperparameterSpace } from "@trainyard/experiment-config";
import { draw } from "@trainyard/kernel";
import type { Algorithm, ProposedPoint } from "../algorithm.ts";
import { axesOf, pointAt } from "../axes.ts";
import type { SearchPlan } from "../state.ts";
import { wantedTrials } from "./random.ts";
import {
  type SobolDimension,
  scrambled,
  sobolCoordinate,
  sobolDimension,
  sobolDimensionsMax,
} from "./sobol/sequence.ts";
import { topUp } from "./top-up.ts";

export const sobol: Algorithm = {
  name: "sobol",
  version: 1,
  sizeOf: (config) =>
    config.name === "sobol"
      ? { trialsMax: config.max_trials, concurrentTrialsMax: config.max_concurrent_trials }
      : { trialsMax: 1, concurrentTrialsMax: 1 },
  initial: () => null,
  evolve: (memory) => memory,
  on: (search, observation) => {
    if (observation.kind === "validated") return [];
    const pointOf = sobolPoints(search.plan);
    return topUp(search, wantedTrials(search), pointOf);
  },
};

/** The dimensions of a plan, kept for as long as the plan is: they follow from it. */
const known = new WeakMap<SearchPlan, (trial: number) => ProposedPoint>();

/** The quasi-random point of each trial number of a search. */
export function sobolPoints(plan: SearchPlan): (trial: number) => ProposedPoint {
  const before = known.get(plan);
  if (before !== undefined) return before;
  const points = pointsOf(plan.space, plan.seed);
  known.set(plan, points);
  return points;
}

function pointsOf(space: HyperparameterSpace, seed: number): (trial: number) => ProposedPoint {
  const coordinatesOf = axesOf(space).map(({ path }, index) => {
    if (index >= sobolDimensionsMax) return (trial: number) => draw(seed, path, trial);
    const dimension: SobolDimension = scrambled(sobolDimension(index), seed, `sobol/${path}`);
    return (trial: number) => sobolCoordinate(dimension, trial - 1) / 2 ** 32;
  });
  return (trial) => ({
    hyperparameters: pointAt(
      space,
      coordinatesOf.map((coordinate) => coordinate(trial)),
    ),
    origin: "space_filling",
  });
}
