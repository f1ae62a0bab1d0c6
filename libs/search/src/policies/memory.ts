/**
 * What the early-stopping policies remember, folded from the search's own events beside the algorithm's memory, and only
 * as much as the policies that were configured need. Reports that do not bring their trial further in time are nothing here.
 */
import {
  type BudgetPolicy,
  type EarlyStoppingPolicy,
  type JsonObject,
  type NoImprovementPolicy,
  type PbtPolicy,
  readEarlyStopping,
  trainsToTheEnd,
} from "@trainyard/experiment-config";
import type { EventData } from "@trainyard/contracts";
import type { SearchEvent } from "../events.ts";
import { isOpen, isStopped, type SearchPlan, type SearchState, trialOf } from "../state.ts";
import { itemAt, pushed, type Vector, vectorOf, withItem } from "../persistent/vector.ts";
import { type Averages, advanced, type Course, gone, noAverages, noCourse } from "./averages.ts";
import { type Patience, waited } from "./patience.ts";
import { isLower, noStanding, placeAmong, type Standing, withValue } from "./population.ts";
import { ProgressRows } from "./progress-rows.ts";
import { rankedValue } from "./ranked.ts";
import { emptyRanking, inserted, type Ranking, removed } from "../persistent/ranking.ts";

/** Raised when the same history would be judged otherwise. */
export const POLICIES_VERSION = 1;

/** What is kept of one trial. */
export type Progress = {
  readonly course: Course;
  readonly standing: Standing;
  /** By the number of the policy, see `rulesOf`: a patience, or reports in a row in the lower quantile. */
  readonly patience: readonly (Patience | null)[];
  readonly streaks: readonly number[];
  /** When its run started that has not ended; null for none. */
  readonly runningSince: number | null;
};

/** Of a budget of time: what its runs have taken. Times are milliseconds of the epoch. */
export type Usage = {
  readonly startedAt: number;
  /** The latest time that any event told. */
  readonly at: number;
  /** Slot-milliseconds of the runs that have ended. */
  readonly spent: number;
  /** The slots of those that have not, and the sum over them of slots × start. */
  readonly slots: number;
  readonly since: number;
  /** The numbers of the trials that have not ended and were not stopped. */
  readonly open: Ranking;
};

export type PoliciesMemory = {
  readonly trials: Vector<Progress>;
  readonly averages: Averages;
  readonly population: Ranking;
  readonly usage: Usage;
};

const noProgress: Progress = {
  course: noCourse,
  standing: noStanding,
  patience: [],
  streaks: [],
  runningSince: null,
};

export function startedPolicies(startedAt: number): PoliciesMemory {
  return {
    trials: vectorOf(new ProgressRows()),
    averages: noAverages,
    population: emptyRanking,
    usage: { startedAt, at: startedAt, spent: 0, slots: 0, since: 0, open: emptyRanking },
  };
}

/** The policies as SearchStarted carries them. */
export function policiesIn(recorded: JsonObject | undefined): readonly EarlyStoppingPolicy[] {
  return readEarlyStopping(recorded?.["any"]);
}

/** Where trials are stopped that would train to the end of their code; null for nowhere. */
export function maxTimeOf(searcher: JsonObject): number | null {
  const { name, max_time: maxTime } = searcher;
  return typeof maxTime === "number" && trainsToTheEnd(String(name)) ? maxTime : null;
}

export type Leaf = Exclude<EarlyStoppingPolicy, { any: unknown } | { all: unknown }>;

/** A policy with the number under which it is remembered among those of its kind. */
export type Rule =
  | { readonly any: readonly Rule[] }
  | { readonly all: readonly Rule[] }
  | { readonly policy: Leaf; readonly index: number };

export type Rules = {
  readonly list: readonly Rule[];
  readonly patient: readonly NoImprovementPolicy[];
  readonly population: readonly PbtPolicy[];
  readonly comparing: boolean;
  readonly budget: BudgetPolicy | null;
};

const knownRules = new WeakMap<readonly EarlyStoppingPolicy[], Rules>();

/** They follow from the plan, and are kept for as long as it is. */
export function rulesOf({ earlyStopping }: SearchPlan): Rules {
  const known = knownRules.get(earlyStopping);
  if (known !== undefined) return known;
  const leaves: Leaf[] = [];
  const ruleOf = (policy: EarlyStoppingPolicy): Rule => {
    if ("any" in policy) return { any: policy.any.map(ruleOf) };
    if ("all" in policy) return { all: policy.all.map(ruleOf) };
    const index = leaves.filter(({ name }) => name === policy.name).length;
    leaves.push(policy);
    return { policy, index };
  };
  const rules: Rules = {
    list: earlyStopping.map(ruleOf),
    patient: leaves.filter((policy) => policy.name === "no_improvement"),
    population: leaves.filter((policy) => policy.name === "pbt"),
    comparing: leaves.some(({ name }) => name === "median" || name === "percentile"),
    budget: leaves.find((policy) => policy.name === "budget") ?? null,
  };
  knownRules.set(earlyStopping, rules);
  return rules;
}

export function progressOf(memory: PoliciesMemory, trial: number): Progress {
  return itemAt(memory.trials, trial - 1) ?? noProgress;
}

function withProgress(memory: PoliciesMemory, trial: number, progress: Progress): PoliciesMemory {
  return { ...memory, trials: withItem(memory.trials, trial - 1, progress) };
}

type Searching = SearchState & { readonly plan: SearchPlan };

/** `search` is the state before the event. */
export function evolvePolicies(
  memory: PoliciesMemory,
  event: SearchEvent,
  search: Searching,
): PoliciesMemory {
  switch (event.type) {
    case "TrialProposed":
      return proposed(memory, event.data, search);
    case "ObservationRecorded":
      return observed(clocked(memory, event.data.atMs, search), event.data, search);
    case "TrialStopDecided":
      return closed(memory, event.data.trial);
    case "TrialOutcomeRecorded":
      return closed(clocked(memory, event.data.atMs, search), event.data.trial);
    case "RunUsageRecorded":
      return used(clocked(memory, event.data.atMs, search), event.data, search.plan.slotsPerTrial);
    case "SearchTimeNoted":
      return clocked(memory, event.data.atMs, search);
    default:
      return memory;
  }
}

/** Time does not go back, whatever the order in which events of several clocks come. */
function clocked(
  memory: PoliciesMemory,
  atMs: number | undefined,
  { plan }: Searching,
): PoliciesMemory {
  const { usage } = memory;
  if (atMs === undefined || atMs <= usage.at || rulesOf(plan).budget === null) return memory;
  return { ...memory, usage: { ...usage, at: atMs } };
}

function proposed(
  memory: PoliciesMemory,
  { number, startFromTrial }: EventData<"TrialProposed">,
  { plan }: Searching,
): PoliciesMemory {
  const { usage } = memory;
  const budget = rulesOf(plan).budget !== null;
  const open = budget ? inserted(usage.open, openEntry(number)) : usage.open;
  const trials = pushed(memory.trials, noProgress);
  const grown = { ...memory, trials, usage: { ...usage, open } };
  if (startFromTrial === undefined) return grown;
  const progress = progressOf(grown, startFromTrial);
  const standing = { ...progress.standing, donor: true };
  return withProgress(grown, startFromTrial, { ...progress, standing });
}

function openEntry(trial: number) {
  return { value: trial, order: 0, trial };
}

/** A start of what runs already, or an end of what does not, is nothing. */
function used(
  memory: PoliciesMemory,
  { trial, started, atMs }: EventData<"RunUsageRecorded">,
  slots: number,
): PoliciesMemory {
  const { usage } = memory;
  const progress = progressOf(memory, trial);
  const from = progress.runningSince;
  if (started === (from !== null)) return memory;
  const sign = started ? 1 : -1;
  const after: Usage = {
    ...usage,
    spent: usage.spent + (from === null ? 0 : slots * Math.max(0, atMs - from)),
    slots: usage.slots + sign * slots,
    since: usage.since + sign * slots * (from ?? atMs),
  };
  const runningSince = started ? atMs : null;
  return withProgress({ ...memory, usage: after }, trial, { ...progress, runningSince });
}

function observed(
  memory: PoliciesMemory,
  { trial, time, values, repeat, missing }: EventData<"ObservationRecorded">,
  search: Searching,
): PoliciesMemory {
  const { plan } = search;
  const value = values[plan.metric];
  const before = progressOf(memory, trial);
  if (repeat || missing !== undefined || value === undefined || time <= before.course.time) {
    return memory;
  }
  const rules = rulesOf(plan);
  const ranked = rankedValue(value, plan.smallerIsBetter);
  let course = gone(before.course, time, ranked);
  let { averages } = memory;
  if (rules.comparing) {
    const lastTimeOf = (other: number): number => progressOf(memory, other).course.time;
    ({ averages, course } = advanced(averages, trial, before.course, course, lastTimeOf));
  }
  const patience = rules.patient.map((policy, i) =>
    waited(policy, before.patience[i] ?? null, time, ranked),
  );
  const after = { ...memory, averages };
  const progress = { ...before, course, patience };
  const state = trialOf(search, trial);
  const member = state !== undefined && isOpen(state) && !isStopped(state);
  return rules.population.length === 0 || !member
    ? withProgress(after, trial, progress)
    : inPopulation(after, trial, progress, ranked, rules.population);
}

function inPopulation(
  memory: PoliciesMemory,
  trial: number,
  before: Progress,
  value: number,
  policies: readonly PbtPolicy[],
): PoliciesMemory {
  const population = withValue(memory.population, trial, before.standing.value, value);
  const streaks = policies.map(({ quantile, grace }, i) => {
    const place = placeAmong(population, trial, value, quantile);
    return before.course.time >= grace && isLower(place) ? (before.streaks[i] ?? 0) + 1 : 0;
  });
  const standing = { ...before.standing, value };
  return withProgress({ ...memory, population }, trial, { ...before, standing, streaks });
}

/** Who is stopped or has ended is no member of the population any more, and needs not be stopped by a budget. */
function closed(memory: PoliciesMemory, trial: number): PoliciesMemory {
  const { usage } = memory;
  const progress = progressOf(memory, trial);
  const { value } = progress.standing;
  const open = removed(usage.open, openEntry(trial));
  const left = open === usage.open ? memory : { ...memory, usage: { ...usage, open } };
  if (value === null) return left;
  const population = withValue(memory.population, trial, value, null);
  const standing = { ...progress.standing, value: null };
  return withProgress({ ...left, population }, trial, { ...progress, standing });
}
