/**
 * Grid search: the cartesian product of the axes, taken from its end as Determined 0.38 does (`grid.go`): trial 1 is the
 * last point, trial n the n-th from the end. A trial with invalid hyperparameters is not replaced: its point has been
 * tried. The product is never written out, so that its size costs nothing.
 */
import { gridSize } from "@trainyard/experiment-config";
import type { Algorithm } from "../algorithm.ts";
import { gridPoint } from "../space.ts";
import { topUp } from "./top-up.ts";

export const grid: Algorithm = {
  name: "grid",
  version: 1,
  sizeOf: (config, space) => ({
    trialsMax: gridSize(space),
    concurrentTrialsMax: config.name === "grid" ? config.max_concurrent_trials : 0,
  }),
  initial: () => null,
  evolve: (memory) => memory,
  on: (search, observation) => {
    if (observation.kind === "validated") return [];
    const { space, trialsMax } = search.plan;
    return topUp(search, trialsMax, (trial) => ({
      hyperparameters: gridPoint(space, trialsMax - trial),
      origin: "grid",
    }));
  },
};
