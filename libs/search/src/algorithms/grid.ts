/**
 * Grid search over the cartesian product of the axes, taken from its end as in Determined 0.38 (`grid.go`): trial 1 is
 * the last point, trial n the n-th from the end. A trial with invalid hyperparameters is not replaced, since its point
 * has been tried. `max_trials` limits the search to the first points. The product is stored nowhere, so that its size
 * costs nothing, unless conditions or constraints exclude points (`space/rules/grid.ts`).
 */
import type { HyperparameterSpace, SearcherConfig } from "@trainyard/experiment-config";
import type { Algorithm } from "../algorithm.ts";
import { wholeTrainings } from "../planned.ts";
import { gridOf } from "../space/rules/grid.ts";
import { topUp } from "./top-up.ts";

export const grid: Algorithm = {
  name: "grid",
  version: 1,
  ignoresValues: true,
  sizeOf: (config, space) => ({
    trialsMax: gridTrials(config, space),
    concurrentTrialsMax: config.name === "grid" ? config.max_concurrent_trials : 0,
  }),
  planned: (config, space) => wholeTrainings(config, gridTrials(config, space)),
  initial: () => null,
  apply: () => {},
  on: (search, observation) => {
    if (observation.kind === "validated") return [];
    const grid = gridOf(search.plan);
    return topUp(search, search.plan.trialsMax, (trial) => ({
      hyperparameters: grid.pointAt(grid.size - trial),
      origin: "grid",
    }));
  },
};

/** The number of points that a grid search tries. */
export function gridTrials(config: SearcherConfig, space: HyperparameterSpace): number {
  const { size } = gridOf({ space, searcher: config });
  return config.name === "grid" ? Math.min(size, config.max_trials ?? size) : size;
}
