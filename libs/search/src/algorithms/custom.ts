/**
 * Custom search: a client decides, by the operations that it posts. Only what follows without asking it is decided
 * here: a trial at its target is suspended, or ends; a free place goes to the trial that has waited longest. With
 * nothing left to run the search waits for its client: it ends when the client finishes it, or when its experiment is
 * canceled. Modelled on Determined's custom searcher (until 0.37).
 */
import type { Algorithm, Decision, Observation } from "../algorithm.ts";
import { intoPlaces, targetReached } from "../custom/places.ts";
import {
  applyToCustom,
  type CustomSearch,
  type CustomState,
  newCustomState,
} from "../custom/state.ts";
import { isRunning, trialOf } from "../state.ts";

export const custom: Algorithm<CustomState> = {
  name: "custom",
  version: 1,
  sizeOf: (config) =>
    config.name === "custom"
      ? { trialsMax: config.max_trials, concurrentTrialsMax: config.max_concurrent_trials }
      : { trialsMax: 0, concurrentTrialsMax: 0 },
  initial: newCustomState,
  apply: applyToCustom,
  on: (search, observation) => {
    const reached = observation.kind === "validated" ? atTarget(search, observation) : [];
    const freed = reached.filter(({ kind }) => kind === "suspend").length;
    return [...reached, ...intoPlaces(search, freed)];
  },
  endsWhenTold: true,
};

function atTarget(
  search: CustomSearch,
  { trial, time, value }: Extract<Observation, { kind: "validated" }>,
): readonly Decision[] {
  const state = trialOf(search, trial);
  return state === undefined || !isRunning(state) ? [] : targetReached(search, trial, time, value);
}
