/** The fold of a search's own events. Total over every history that `decide` makes; anything else is a bug. */
import type { EventData } from "@trainyard/contracts";
import { TrialOutcome } from "@trainyard/contracts/events";
import type { HyperparameterSpace } from "@trainyard/experiment-config";
import { assert, assertNever } from "@trainyard/kernel";
import { recordedAlgorithm } from "./algorithms/registry.ts";
import { bestOfAll, isBetter } from "./best.ts";
import type { SearchEvent } from "./events.ts";
import {
  evolvePolicies,
  maxTimeOf,
  POLICIES_VERSION,
  policiesIn,
  startedPolicies,
} from "./policies/memory.ts";
import {
  type OutcomeCounts,
  type RunningSearch,
  type SearchPlan,
  type SearchState,
  type TrialState,
  type TrialWanted,
  trialOf,
} from "./state.ts";
import { includesTime, isLater, noTimes, withLater } from "./persistent/times.ts";
import { noLateTimes, TrialRows } from "./trial-rows.ts";
import { pushed, vectorOf, withItem } from "./persistent/vector.ts";

/**
 * The step that was made last: `decide` folds an event to see what follows from it, and whoever carries the decision out
 * folds the same event again.
 */
let lastStep: { before: SearchState; event: SearchEvent; after: SearchState } | null = null;

export function evolve(state: SearchState, event: SearchEvent): SearchState {
  if (lastStep !== null && lastStep.before === state && lastStep.event === event) {
    return lastStep.after;
  }
  const after = event.type === "SearchStarted" ? started(state, event.data) : next(state, event);
  lastStep = { before: state, event, after };
  return after;
}

type LaterEvent = Exclude<SearchEvent, { type: "SearchStarted" }>;

function next(state: SearchState, event: LaterEvent): SearchState {
  const search = running(state);
  const { algorithm, algorithmVersion } = search.plan;
  const known = recordedAlgorithm(algorithm, algorithmVersion);
  if (known === undefined) {
    assert(false, `version ${algorithmVersion} of ${algorithm} search is known`);
  }
  // The algorithm looks at the state before the event, which is at hand only until the event is applied.
  const after: Draft = {
    ...search,
    version: search.version + 1,
    memory: known.evolve(search.memory, event, search),
    policies: search.policies === null ? null : evolvePolicies(search.policies, event, search),
  };
  apply(after, event);
  return after;
}

/** The state after an event while it is made: a copy of the one before. */
type Draft = { -readonly [Key in keyof RunningSearch]: RunningSearch[Key] };

function running(state: SearchState): RunningSearch {
  assert(state.plan !== null, "a search starts before anything else happens to it");
  return state as RunningSearch;
}

function apply(after: Draft, event: LaterEvent): void {
  switch (event.type) {
    case "TrialProposed":
      propose(after, event.data);
      break;
    case "ObservationRecorded":
      observe(after, event.data);
      break;
    case "TrialSuspended":
      want(after, event.data.trial, "suspended");
      break;
    case "TrialResumed":
      want(after, event.data.trial, "run");
      break;
    case "TrialStopDecided":
      want(after, event.data.trial, event.data.fails === true ? "failed" : "stopped");
      break;
    case "SearchStopDecided":
      after.finishing = true;
      after.failing = event.data.fails ?? false;
      break;
    case "TrialOutcomeRecorded":
      end(after, event.data);
      break;
    case "SearchCompleted":
      after.phase = "completed";
      break;
    case "SuggestionPrepared":
    case "SuggestionMissed":
    case "CheckpointObserved":
    case "RunUsageRecorded":
    case "SearchTimeNoted":
    case "OperationsPosted":
      break;
    default:
      assertNever(event, "a search's fold");
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
  const earlyStopping = policiesIn(data.earlyStopping);
  const maxTime = maxTimeOf(searcher);
  const judged = earlyStopping.length > 0 || maxTime !== null;
  const version = data.policiesVersion ?? POLICIES_VERSION;
  assert(version === POLICIES_VERSION, `version ${version} of early stopping is known`);
  const plan: SearchPlan = {
    algorithm: data.algorithm,
    algorithmVersion: data.algorithmVersion,
    searcher,
    space,
    spaceBytes: JSON.stringify(space).length,
    metric: data.metric,
    smallerIsBetter: data.smallerIsBetter,
    timeMetric: data.timeMetric,
    seed: data.seed,
    earlier: data.earlier?.trials ?? [],
    trialsMax: data.trialsMax,
    concurrentTrialsMax: data.concurrentTrialsMax,
    earlyStopping,
    maxTime,
    slotsPerTrial: data.slotsPerTrial ?? 0,
  };
  return {
    ...state,
    version: state.version + 1,
    phase: "running",
    policies: judged ? startedPolicies(data.atMs ?? 0) : null,
    plan,
    trials: vectorOf(new TrialRows()),
    memory: algorithm.initial(searcher, space, data.seed, plan),
  };
}

const newTrial: TrialState = {
  wanted: "run",
  outcome: TrialOutcome.UNSPECIFIED,
  best: null,
  bestAt: 0,
  times: noTimes,
  lateTimes: noLateTimes,
  run: 0,
  runTime: 0,
  measurement: "",
};

function propose(after: Draft, data: EventData<"TrialProposed">): void {
  const { number } = data;
  if (number !== after.trials.size + 1) assert(false, `trial ${number} is the next one`);
  const trial: TrialState = data.waits === true ? { ...newTrial, wanted: "suspended" } : newTrial;
  after.trials = pushed(after.trials, trial);
  after.unended += 1;
}

function known(search: SearchState, number: number): TrialState {
  const trial = trialOf(search, number);
  if (trial === undefined) assert(false, `trial ${number} was proposed`);
  return trial;
}

function put(after: Draft, number: number, trial: TrialState): void {
  after.trials = withItem(after.trials, number - 1, trial);
}

function want(after: Draft, number: number, wanted: TrialWanted): void {
  put(after, number, { ...known(after, number), wanted });
}

function observe(after: Draft, data: EventData<"ObservationRecorded">): void {
  const { trial: number, run, time, measurement } = data;
  const before = known(after, number);
  if (data.missing !== undefined) return put(after, number, { ...before, measurement });
  if (data.repeat) return put(after, number, { ...before, run, runTime: time, measurement });
  const { metric, smallerIsBetter } = after.plan;
  const value = data.values[metric];
  const isBest = value !== undefined && isBetter(value, before.best, smallerIsBetter);
  const later = isLater(before.times, time);
  const trial: TrialState = {
    wanted: before.wanted,
    outcome: before.outcome,
    best: isBest ? value : before.best,
    bestAt: isBest ? after.version : before.bestAt,
    times: later ? withLater(before.times, time) : before.times,
    lateTimes: later ? before.lateTimes : [...before.lateTimes, time],
    run,
    runTime: time,
    measurement,
  };
  put(after, number, trial);
  const isBestOfAll = isBest && isBetter(value, after.best?.value ?? null, smallerIsBetter);
  if (isBestOfAll && countsForBest(trial)) after.best = { trial: number, value };
}

/** Whether the trial has been observed at this time. */
export function wasObserved({ times, lateTimes }: TrialState, time: number): boolean {
  if (isLater(times, time)) return false;
  return includesTime(times, time) || lateTimes.includes(time);
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

function end(after: Draft, data: EventData<"TrialOutcomeRecorded">): void {
  const trial = { ...known(after, data.trial), outcome: data.outcome };
  const counted = countedAs[data.outcome];
  assert(counted !== undefined, `${data.outcome} is an outcome`);
  put(after, data.trial, trial);
  after.unended -= 1;
  after.outcomes = { ...after.outcomes, [counted]: after.outcomes[counted] + 1 };
  if (countsForBest(trial) || after.best?.trial !== data.trial) return;
  after.best = bestOfAll(after, after.plan.smallerIsBetter, countsForBest);
}
