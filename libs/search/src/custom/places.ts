/** Decides when trials of a custom search stop at their targets, and which waiting trials get a free place. */
import type { Decision } from "../algorithm.ts";
import { type CustomSearch, firstWaiting } from "./state.ts";

/** Returns the decision about a trial that has reached its target, or null. */
export function targetReached(
  search: CustomSearch,
  trial: number,
  time: number,
  value: number | null,
): readonly Decision[] {
  const goal = search.memory.goals[trial - 1];
  if (goal === undefined || goal.target === null || time < goal.target) return [];
  // A trial of a finished search is stopped, not suspended, since no client could resume it.
  const stops = goal.stops || search.finishing;
  const rule = "target_reached";
  const evidence = { target: goal.target, time, value };
  return stops
    ? [{ kind: "stop", trial, rule, evidence }]
    : [{ kind: "suspend", trial, rung: 0, rule, evidence }];
}

/** The number of trials that may start or resume; `freed` places are about to become free. */
export function placesFree({ plan, unended, memory }: CustomSearch, freed = 0): number {
  if (plan.concurrentTrialsMax === 0) return Number.POSITIVE_INFINITY;
  return plan.concurrentTrialsMax - (unended - memory.resting) + freed;
}

/** Resumes waiting trials while places are free. */
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
