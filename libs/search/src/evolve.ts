/** The fold of a search's own events. Total over every history that `decide` makes; anything else is a bug. */
import type { EventData } from "@trainyard/contracts";
import { TrialOutcome } from "@trainyard/contracts/events";
import type { HyperparameterSpace } from "@trainyard/experiment-config";
import { assert, assertNever } from "@trainyard/kernel";
import { recordedAlgorithm } from "./algorithms/registry.ts";
import { bestOfAll, isBetter } from "./best.ts";
import type { SearchEvent } from "./events.ts";
import {
  type OutcomeCounts,
  type RunningSearch,
  type SearchState,
  type TrialState,
  type TrialWanted,
  trialOf,
} from "./state.ts";
import { emptyVector, includesSorted, itemAt, pushed, withItem } from "./vector.ts";

export function evolve(state: SearchState, event: SearchEvent): SearchState {
  if (event.type === "SearchStarted") return started(state, event.data);
  const search = running(state);
  const after = applied(search, event);
  const { algorithm, algorithmVersion } = search.plan;
  const memory = recordedAlgorithm(algorithm, algorithmVersion)?.evolve(
    search.memory,
    event,
    search,
  );
  assert(memory !== undefined, `version ${algorithmVersion} of ${algorithm} search is known`);
  return { ...after, memory, version: state.version + 1 };
}

function running(state: SearchState): RunningSearch {
  assert(state.plan !== null, "a search starts before anything else happens to it");
  return state as RunningSearch;
}

function applied(
  search: RunningSearch,
  event: Exclude<SearchEvent, { type: "SearchStarted" }>,
): SearchState {
  switch (event.type) {
    case "TrialProposed":
      return proposed(search, event.data);
    case "ObservationRecorded":
      return observed(search, event.data);
    case "TrialSuspended":
      return wanted(search, event.data.trial, "suspended");
    case "TrialResumed":
      return wanted(search, event.data.trial, "run");
    case "TrialStopDecided":
      return wanted(search, event.data.trial, "stopped");
    case "SearchStopDecided":
      return { ...search, finishing: true };
    case "TrialOutcomeRecorded":
      return ended(search, event.data);
    case "SearchCompleted":
      return { ...search, phase: "completed" };
    default:
      return assertNever(event, "a search's fold");
  }
}

function started(state: SearchState, data: EventData<"SearchStarted">): SearchState {
  assert(state.plan === null, "a search starts once");
  const space = (data.space ?? {}) as HyperparameterSpace;
  const searcher = data.searcher ?? {};
  const algorithm = recordedAlgorithm(data.algorithm, data.algorithmVersion);
  assert(
    algorithm !== undefined,
    `version ${data.algorithmVersion} of ${data.algorithm} search is known`,
  );
  return {
    ...state,
    version: state.version + 1,
    phase: "running",
    plan: {
      algorithm: data.algorithm,
      algorithmVersion: data.algorithmVersion,
      searcher,
      space,
      spaceBytes: JSON.stringify(space).length,
      metric: data.metric,
      smallerIsBetter: data.smallerIsBetter,
      timeMetric: data.timeMetric,
      seed: data.seed,
      trialsMax: data.trialsMax,
      concurrentTrialsMax: data.concurrentTrialsMax,
    },
    memory: algorithm.initial(searcher, space, data.seed),
  };
}

const newTrial: TrialState = {
  wanted: "run",
  outcome: TrialOutcome.UNSPECIFIED,
  best: null,
  bestAt: 0,
  times: emptyVector(),
  lateTimes: [],
  run: 0,
  runTime: 0,
  measurement: "",
};

function proposed(search: RunningSearch, data: EventData<"TrialProposed">): SearchState {
  assert(data.number === search.trials.size + 1, `trial ${data.number} is the next one`);
  return { ...search, trials: pushed(search.trials, newTrial), unended: search.unended + 1 };
}

function known(search: SearchState, number: number): TrialState {
  const trial = trialOf(search, number);
  assert(trial !== undefined, `trial ${number} was proposed`);
  return trial;
}

function withTrial(search: RunningSearch, number: number, trial: TrialState): RunningSearch {
  return { ...search, trials: withItem(search.trials, number - 1, trial) };
}

function wanted(search: RunningSearch, number: number, what: TrialWanted): SearchState {
  return withTrial(search, number, { ...known(search, number), wanted: what });
}

function observed(search: RunningSearch, data: EventData<"ObservationRecorded">): SearchState {
  const { metric, smallerIsBetter } = search.plan;
  const { trial: number, run, time: runTime, measurement } = data;
  if (data.missing !== undefined) {
    return withTrial(search, number, { ...known(search, number), measurement });
  }
  const before = { ...known(search, number), run, runTime, measurement };
  if (data.repeat) return withTrial(search, number, before);
  const trial = { ...before, ...withTime(before, data.time) };
  const value = data.values[metric];
  if (value === undefined || !isBetter(value, trial.best, smallerIsBetter)) {
    return withTrial(search, data.trial, trial);
  }
  const better = withTrial(search, data.trial, {
    ...trial,
    best: value,
    bestAt: search.version + 1,
  });
  const { best } = search;
  return isBetter(value, best?.value ?? null, smallerIsBetter) && countsForBest(trial)
    ? { ...better, best: { trial: data.trial, value } }
    : better;
}

function withTime(trial: TrialState, time: number): Pick<TrialState, "times" | "lateTimes"> {
  const { times, lateTimes } = trial;
  const last = itemAt(times, times.size - 1);
  if (last === undefined || time > last) return { times: pushed(times, time), lateTimes };
  return { times, lateTimes: [...lateTimes, time] };
}

/** Whether the trial has been observed at this time. */
export function wasObserved(trial: TrialState, time: number): boolean {
  const last = itemAt(trial.times, trial.times.size - 1);
  if (last === undefined || time > last) return false;
  return includesSorted(trial.times, time) || trial.lateTimes.includes(time);
}

function countsForBest(trial: TrialState): boolean {
  return trial.outcome !== TrialOutcome.INVALID_HYPERPARAMETERS;
}

const countedAs: Readonly<Record<number, keyof OutcomeCounts>> = {
  [TrialOutcome.COMPLETED]: "trained",
  [TrialOutcome.STOPPED_EARLY]: "trained",
  [TrialOutcome.CANCELED]: "canceled",
  [TrialOutcome.FAILED]: "failed",
  [TrialOutcome.INVALID_HYPERPARAMETERS]: "invalid",
};

/** Whether the search knows what an outcome means. */
export function isKnownOutcome(outcome: TrialOutcome): boolean {
  return countedAs[outcome] !== undefined;
}

function ended(search: RunningSearch, data: EventData<"TrialOutcomeRecorded">): SearchState {
  const trial = { ...known(search, data.trial), outcome: data.outcome };
  const counted = countedAs[data.outcome];
  assert(counted !== undefined, `${data.outcome} is an outcome`);
  const after = {
    ...withTrial(search, data.trial, trial),
    unended: search.unended - 1,
    outcomes: { ...search.outcomes, [counted]: search.outcomes[counted] + 1 },
  };
  if (countsForBest(trial) || search.best?.trial !== data.trial) return after;
  return { ...after, best: bestOfAll(after, search.plan.smallerIsBetter, countsForBest) };
}
