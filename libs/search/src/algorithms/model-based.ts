import type { SearcherConfig } from "@trainyard/experiment-config";
import type { Algorithm, ProposedPoint, Size } from "../algorithm.ts";
import { wholeTrainings } from "../planned.ts";
import { warmStartTrials, pointOfTrial } from "../space/points.ts";
import { isAllowed } from "../space/rules/constraints.ts";
import type { RunningSearch } from "../state.ts";
import { applyToModel, type ModelState, newModelState } from "./model-state.ts";
import { wantedTrials } from "./random.ts";
import { topUp } from "./top-up.ts";

/**
 * Returns the point of the next trial. `more` collects the places of points proposed together, so that each considers
 * those before it.
 */
type NextPoint = (
  search: RunningSearch<ModelState>,
  trial: number,
  more: (readonly number[])[],
) => ProposedPoint;

/** A searcher that proposes from a model of the ended trials, and fills the free places whenever a trial ends. */
export function modelBased(name: "tpe" | "gp", nextPoint: NextPoint): Algorithm<ModelState> {
  const sizeOf = (config: SearcherConfig): Size =>
    config.name === name
      ? { trialsMax: config.max_trials, concurrentTrialsMax: config.max_concurrent_trials }
      : { trialsMax: 1, concurrentTrialsMax: 1 };
  return {
    name,
    version: 1,
    learns: true,
    sizeOf,
    planned: (config) => wholeTrainings(config, sizeOf(config).trialsMax),
    initial: newModelState,
    apply: applyToModel,
    on: (search, observation) => {
      if (observation.kind === "validated") return [];
      const more: (readonly number[])[] = [];
      return topUp(search, wantedTrials(search), (trial) => {
        if (trial <= warmStartTrials(search.plan)) return pointOfTrial(search.plan, trial);
        const point = nextPoint(search, trial, more);
        // If the model finds no point that the constraints allow, the trial gets a random point.
        const allowed = isAllowed(search.plan, point.hyperparameters);
        return allowed ? point : pointOfTrial(search.plan, trial);
      });
    },
  };
}
