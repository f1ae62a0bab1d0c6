/**
 * Applies events to the state of a search. Every history that `decide` produces can be applied; any other history
 * throws.
 */
import type { EventData } from "@trainyard/contracts";
import { TrialOutcome } from "@trainyard/contracts/events";
import { type HyperparameterSpace, readSearcher } from "@trainyard/experiment-config";
import { assert, assertNever } from "@trainyard/kernel";
import { algorithmOf } from "./algorithms/registry.ts";
import { countedAs } from "./outcomes.ts";
import { bestOfAll, isBetter } from "./best.ts";
import { applyContinuation } from "./continuation.ts";
import { Derived } from "./derived.ts";
import type { SearchEvent } from "./events.ts";
import { objectivesOf } from "./objectives.ts";
import { applyToPolicies } from "./early-stopping/apply.ts";
import { maxTimeOf, POLICIES_VERSION, policiesIn } from "./early-stopping/rules.ts";
import { startedPolicies } from "./early-stopping/state.ts";
import {
  isStarted,
  type RunningSearch,
  type SearchPlan,
  type SearchState,
  type TrialState,
  type TrialWanted,
  trialOf,
} from "./state.ts";
import { includesTime, isLater, noTimes, withLater } from "./times.ts";
import type { UndoLog } from "./undo-log.ts";

/** Changes the state by one event, with every change in the undo log. */
export function applyEvent(state: SearchState, event: SearchEvent, undo: UndoLog): void {
  if (event.type === "SearchStarted") start(state, event.data, undo);
  else next(running(state), event, undo);
}

type LaterEvent = Exclude<SearchEvent, { type: "SearchStarted" }>;

function next(search: RunningSearch, event: LaterEvent, undo: UndoLog): void {
  // The algorithm and the policies read the search as it was before the event.
  algorithmOf(search.plan).apply(search, event, undo);
  if (search.policies !== null) applyToPolicies(search.policies, event, search, undo);
  undo.set(search, "version", search.version + 1);
  change(search, event, undo);
}

function running(state: SearchState): RunningSearch {
  assert(isStarted(state), "a search starts before anything else happens to it");
  return state;
}

function change(search: RunningSearch, event: LaterEvent, undo: UndoLog): void {
  switch (event.type) {
    case "TrialProposed":
      propose(search, event.data, undo);
      break;
    case "ObservationRecorded":
      observe(search, event.data, undo);
      break;
    case "TrialSuspended":
      want(search, event.data.trial, "suspended", undo);
      break;
    case "TrialResumed":
      want(search, event.data.trial, "run", undo);
      break;
    case "TrialStopDecided":
      want(search, event.data.trial, event.data.fails === true ? "failed" : "stopped", undo);
      break;
    case "SearchStopDecided":
      undo.set(search, "finishing", true);
      undo.set(search, "failing", event.data.fails ?? false);
      break;
    case "TrialOutcomeRecorded":
      end(search, event.data, undo);
      break;
    case "SearchCompleted":
      undo.set(search, "phase", "completed");
      break;
    case "SearchContinued":
      applyContinuation(search, event.data, undo);
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

function start(state: SearchState, data: EventData<"SearchStarted">, undo: UndoLog): void {
  assert(state.plan === null, "a search starts once");
  const space = (data.space ?? {}) as HyperparameterSpace;
  const searcher = readSearcher(data.searcher);
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
    objectives: objectivesOf(searcher),
    timeMetric: data.timeMetric,
    seed: data.seed,
    earlier: data.earlier?.trials ?? [],
    trialsMax: data.trialsMax,
    concurrentTrialsMax: data.concurrentTrialsMax,
    earlyStopping,
    maxTime,
    slotsPerTrial: data.slotsPerTrial ?? 0,
    derived: new Derived(),
  };
  undo.set(state, "version", state.version + 1);
  undo.set(state, "phase", "running");
  undo.set(state, "plan", plan);
  undo.set(state, "policies", judged ? startedPolicies(data.atMs ?? 0) : null);
  undo.set(state, "memory", algorithmOf(plan).initial(plan));
}

const newTrial: TrialState = {
  wanted: "run",
  outcome: TrialOutcome.UNSPECIFIED,
  best: null,
  bestAt: 0,
  times: noTimes,
  lateTimes: [],
  run: 0,
  runTime: 0,
  measurement: "",
};

function propose(search: RunningSearch, data: EventData<"TrialProposed">, undo: UndoLog): void {
  const { number } = data;
  if (number !== search.trials.length + 1) assert(false, `trial ${number} is the next one`);
  undo.push(search.trials, data.waits === true ? { ...newTrial, wanted: "suspended" } : newTrial);
  undo.set(search, "unended", search.unended + 1);
}

function known(search: SearchState, number: number): TrialState {
  const trial = trialOf(search, number);
  if (trial === undefined) assert(false, `trial ${number} was proposed`);
  return trial;
}

function put(search: SearchState, number: number, trial: TrialState, undo: UndoLog): void {
  undo.set(search.trials, number - 1, trial);
}

function want(search: SearchState, number: number, wanted: TrialWanted, undo: UndoLog): void {
  put(search, number, { ...known(search, number), wanted }, undo);
}

function observe(
  search: RunningSearch,
  data: EventData<"ObservationRecorded">,
  undo: UndoLog,
): void {
  const { trial: number, run, time, measurement } = data;
  const before = known(search, number);
  if (data.missing !== undefined) return put(search, number, { ...before, measurement }, undo);
  if (data.repeat) {
    return put(search, number, { ...before, run, runTime: time, measurement }, undo);
  }
  const { metric, smallerIsBetter } = search.plan;
  const value = data.values[metric];
  const isBest = value !== undefined && isBetter(value, before.best, smallerIsBetter);
  const later = isLater(before.times, time);
  const trial: TrialState = {
    wanted: before.wanted,
    outcome: before.outcome,
    best: isBest ? value : before.best,
    bestAt: isBest ? search.version : before.bestAt,
    times: later ? withLater(undo, before.times, time) : before.times,
    lateTimes: later ? before.lateTimes : [...before.lateTimes, time],
    run,
    runTime: time,
    measurement,
  };
  put(search, number, trial, undo);
  const isBestOfAll = isBest && isBetter(value, search.best?.value ?? null, smallerIsBetter);
  if (isBestOfAll && countsForBest(trial)) undo.set(search, "best", { trial: number, value });
}

/** Whether the trial has a report at this time already. */
export function wasObserved({ times, lateTimes }: TrialState, time: number): boolean {
  if (isLater(times, time)) return false;
  return includesTime(times, time) || lateTimes.includes(time);
}

function countsForBest(trial: TrialState): boolean {
  return trial.outcome !== TrialOutcome.INVALID_HYPERPARAMETERS;
}

/** Whether this version of the search knows the outcome. */
export function isKnownOutcome(outcome: TrialOutcome): boolean {
  return countedAs[outcome] !== undefined;
}

function end(search: RunningSearch, data: EventData<"TrialOutcomeRecorded">, undo: UndoLog): void {
  const trial = { ...known(search, data.trial), outcome: data.outcome };
  const counted = countedAs[data.outcome];
  assert(counted !== undefined, `${data.outcome} is an outcome`);
  put(search, data.trial, trial, undo);
  undo.set(search, "unended", search.unended - 1);
  undo.set(search.outcomes, counted, search.outcomes[counted] + 1);
  if (countsForBest(trial) || search.best?.trial !== data.trial) return;
  undo.set(search, "best", bestOfAll(search, search.plan.smallerIsBetter, countsForBest));
}
