/**
 * Custom search: a process outside decides, by the operations that it posts. Here is only what follows from these without
 * asking it: a trial that has come to its target is suspended, or ends; a free place goes to the trial that has waited for
 * one the longest. With nothing left to run the search waits for its client, for ever if need be: it is over when the
 * client finishes it, or when its experiment is canceled. Modelled on Determined's custom searcher (until 0.37).
 */
import type { Algorithm, Decision, Observation } from "../algorithm.ts";
import {
  applyToCustom,
  type CustomState,
  type CustomSearch,
  firstWaiting,
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

/** What becomes of a trial at this time, if its target is not later. */
export function targetReached(
  search: CustomSearch,
  trial: number,
  time: number,
  value: number | null,
): readonly Decision[] {
  const goal = search.memory.goals[trial - 1];
  if (goal === undefined || goal.target === null || time < goal.target) return [];
  // Of a search that was finished nobody would resume it.
  const stops = goal.stops || search.finishing;
  const rule = "target_reached";
  const evidence = { target: goal.target, time, value };
  return stops
    ? [{ kind: "stop", trial, rule, evidence }]
    : [{ kind: "suspend", trial, rung: 0, rule, evidence }];
}

/** How many more trials may run; `freed` places are about to become free. */
export function placesFree({ plan, unended, memory }: CustomSearch, freed = 0): number {
  if (plan.concurrentTrialsMax === 0) return Number.POSITIVE_INFINITY;
  return plan.concurrentTrialsMax - (unended - memory.resting) + freed;
}

/** Resumes those that wait, as far as there are places. */
export function intoPlaces(search: CustomSearch, freed = 0): readonly Decision[] {
  const { memory } = search;
  const free = Math.max(0, placesFree(search, freed));
  return firstWaiting(memory, free).map((trial) => ({
    kind: "resume",
    trial,
    target: memory.goals[trial - 1]?.target ?? Number.POSITIVE_INFINITY,
    rung: 0,
    rule: "place_free",
    evidence: { max_concurrent_trials: search.plan.concurrentTrialsMax },
  }));
}
