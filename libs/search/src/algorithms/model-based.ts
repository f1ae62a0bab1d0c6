import type { Algorithm, ProposedPoint } from "../algorithm.ts";
import type { RunningSearch } from "../state.ts";
import { evolveModelMemory, initialModelMemory } from "./model-memory.ts";
import { wantedTrials } from "./random.ts";
import { topUp } from "./top-up.ts";

/** The point of the next trial. What is proposed together adds its places to `more`, so that each sees those before it. */
type NextPoint = (
  search: RunningSearch,
  trial: number,
  more: (readonly number[])[],
) => ProposedPoint;

/** A searcher that proposes by a model of the trials that have ended, and fills the free places whenever one ends. */
export function modelBased(name: "tpe" | "gp", nextPoint: NextPoint): Algorithm {
  return {
    name,
    version: 1,
    sizeOf: (config) =>
      config.name === name
        ? { trialsMax: config.max_trials, concurrentTrialsMax: config.max_concurrent_trials }
        : { trialsMax: 1, concurrentTrialsMax: 1 },
    initial: () => initialModelMemory,
    evolve: evolveModelMemory,
    on: (search, observation) => {
      if (observation.kind === "validated") return [];
      const more: (readonly number[])[] = [];
      return topUp(search, wantedTrials(search), (trial) => nextPoint(search, trial, more));
    },
  };
}
