import type { Algorithm, ProposedPoint } from "../algorithm.ts";
import { givenTrials, pointOfTrial } from "../space/points.ts";
import { isAllowed } from "../space/rules/constraints.ts";
import type { RunningSearch } from "../state.ts";
import { applyToModel, type ModelState, newModelState } from "./model-state.ts";
import { wantedTrials } from "./random.ts";
import { topUp } from "./top-up.ts";

/**
 * The point of the next trial. What is proposed together adds its places to `more`, so that each sees those before it.
 */
type NextPoint = (
  search: RunningSearch<ModelState>,
  trial: number,
  more: (readonly number[])[],
) => ProposedPoint;

/** A searcher that proposes by a model of the trials that have ended, and fills the free places whenever one ends. */
export function modelBased(name: "tpe" | "gp", nextPoint: NextPoint): Algorithm<ModelState> {
  return {
    name,
    version: 1,
    learns: true,
    sizeOf: (config) =>
      config.name === name
        ? { trialsMax: config.max_trials, concurrentTrialsMax: config.max_concurrent_trials }
        : { trialsMax: 1, concurrentTrialsMax: 1 },
    initial: newModelState,
    apply: applyToModel,
    on: (search, observation) => {
      if (observation.kind === "validated") return [];
      const more: (readonly number[])[] = [];
      return topUp(search, wantedTrials(search), (trial) => {
        if (trial <= givenTrials(search.plan)) return pointOfTrial(search.plan, trial);
        const point = nextPoint(search, trial, more);
        // A model that finds no place that the constraints allow leaves the trial to chance.
        const allowed = isAllowed(search.plan, point.hyperparameters);
        return allowed ? point : pointOfTrial(search.plan, trial);
      });
    },
  };
}
