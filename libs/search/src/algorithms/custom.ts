/**
 * Custom search: a client decides by posting operations. The search itself decides only what follows without the
 * client: a trial at its target is suspended or ends, and a free place goes to the trial that has waited longest. When
 * no trial runs, the search waits until its client finishes it or its experiment is canceled. Modelled on Determined's
 * custom searcher (until 0.37).
 */
import type { Algorithm, Decision, Observation } from "../algorithm.ts";
import { intoPlaces, targetReached } from "../custom/places.ts";
import {
  applyToCustom,
  type CustomSearch,
  type CustomState,
  newCustomState,
} from "../custom/state.ts";
import { wholeTrainings } from "../planned.ts";
import { isRunning, trialOf } from "../state.ts";

export const custom: Algorithm<CustomState> = {
  name: "custom",
  version: 1,
  sizeOf: (config) =>
    config.name === "custom"
      ? { trialsMax: config.max_trials, concurrentTrialsMax: config.max_concurrent_trials }
      : { trialsMax: 0, concurrentTrialsMax: 0 },
  // The number of trials of a custom search without a limit depends on its client.
  planned: (config) =>
    config.name === "custom" && config.max_trials > 0
      ? wholeTrainings(config, config.max_trials)
      : null,
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
