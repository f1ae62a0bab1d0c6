/**
 * What the early-stopping policies decide after an input of the search: the trial whose report came is stopped by the first
 * policy of the list that says so, and a budget that is spent ends the search. They are asked before the algorithm is,
 * and each decision carries what it rests on.
 */
import type {
  BudgetPolicy,
  Json,
  JsonObject,
  NoImprovementPolicy,
  PbtPolicy,
  ThresholdPolicy,
} from "@trainyard/experiment-config";
import type { Decision, Observation } from "../algorithm.ts";
import { searchLimits } from "../limits.ts";
import { entriesBetween } from "../ranking.ts";
import { isRunning, type RunningSearch, type SearchState, trialOf } from "../state.ts";
import { comparison } from "./averages.ts";
import {
  type PoliciesMemory,
  type Progress,
  policiesIn,
  progressOf,
  type Leaf,
  type Rule,
  rulesOf,
} from "./memory.ts";
import { isOver, timeWaited } from "./patience.ts";
import { isLower, placeAmong } from "./population.ts";
import { shownValue, written } from "./ranked.ts";

/** Others that an event names: enough to see what a trial was compared with. */
const COMPETITORS_SHOWN = 16;

type Verdict = { readonly rule: string; readonly evidence: JsonObject };

type Case = {
  readonly search: RunningSearch;
  readonly memory: PoliciesMemory;
  readonly trial: number;
  readonly progress: Progress;
  readonly time: number;
  /** As it was reported. */
  readonly value: number;
};

export function policyDecisions(
  search: RunningSearch,
  observation: Observation | null,
): readonly Decision[] {
  const { policies: memory } = search;
  if (memory === null) return [];
  const spent = budgetDecisions(search, memory);
  if (spent.length > 0 || observation?.kind !== "validated") return spent;
  const { trial, time, value } = observation;
  const progress = progressOf(memory, trial);
  const state = trialOf(search, trial);
  // A report that brings the trial no further is no step on its way: policies were asked at the later one.
  if (state === undefined || !isRunning(state) || progress.course.time !== time) return [];
  const verdict = verdictOf({ search, memory, trial, progress, time, value });
  return verdict === null ? [] : [{ kind: "stop", trial, ...verdict }];
}

function verdictOf(asked: Case): Verdict | null {
  const { plan } = asked.search;
  for (const rule of rulesOf(plan).list) {
    const verdict = judged(rule, asked);
    if (verdict !== null) return verdict;
  }
  const { maxTime } = plan;
  if (maxTime === null || asked.time < maxTime) return null;
  return { rule: "max_time", evidence: { max_time: maxTime, units: asked.time } };
}

function judged(rule: Rule, asked: Case): Verdict | null {
  if ("any" in rule) {
    for (const member of rule.any) {
      const verdict = judged(member, asked);
      if (verdict !== null) return verdict;
    }
    return null;
  }
  if ("all" in rule) {
    const verdicts = rule.all.map((member) => judged(member, asked));
    const met = verdicts.filter((verdict) => verdict !== null);
    if (met.length < verdicts.length) return null;
    return { rule: "all", evidence: { policies: met.map((verdict) => ({ ...verdict })) } };
  }
  const evidence = evidenceOf(rule.policy, rule.index, asked);
  return evidence === null ? null : { rule: rule.policy.name, evidence };
}

/** Null where the policy lets the trial go on. */
function evidenceOf(policy: Leaf, index: number, asked: Case): JsonObject | null {
  switch (policy.name) {
    case "no_improvement":
      return unimproved(policy, index, asked);
    case "threshold":
      return beyond(policy, asked);
    case "median":
      return outdone(50, policy, asked);
    case "percentile":
      return outdone(policy.percentile, policy, asked);
    case "pbt":
      return leftBehind(policy, index, asked);
    case "not_finite":
      return Number.isFinite(asked.value)
        ? null
        : { value: written(asked.value), time: asked.time };
    default:
      return null;
  }
}

function unimproved(policy: NoImprovementPolicy, index: number, asked: Case): JsonObject | null {
  const { plan } = asked.search;
  const patience = asked.progress.patience[index];
  if (patience === null || patience === undefined) return null;
  if (!isOver(policy, patience, asked.time)) return null;
  const { min_delta, min_delta_relative } = policy;
  return {
    value: written(asked.value),
    time: asked.time,
    best: shownValue(patience.best, plan.smallerIsBetter),
    best_at: patience.at,
    ...(policy.patience === null
      ? {
          waited_time: timeWaited(policy, patience, asked.time),
          patience_time: policy.patience_time,
        }
      : { waited: patience.reports, patience: policy.patience }),
    ...(min_delta_relative > 0 ? { min_delta_relative } : { min_delta }),
  };
}

function beyond({ lower, upper, grace }: ThresholdPolicy, asked: Case): JsonObject | null {
  const { value, time } = asked;
  if (time < grace) return null;
  const inside =
    Number.isFinite(value) && value >= (lower ?? -Infinity) && value <= (upper ?? Infinity);
  return inside ? null : { value: written(value), time, lower, upper };
}

function outdone(
  percentile: number,
  { min_trials, grace }: { readonly min_trials: number; readonly grace: number },
  asked: Case,
): JsonObject | null {
  if (asked.time < grace) return null;
  const { averages } = asked.memory;
  const { course } = asked.progress;
  const found = comparison(averages, asked.trial, course, percentile, min_trials);
  if (found === null || course.best <= found.cutoff) return null;
  const shown = (ranked: number): Json => shownValue(ranked, asked.search.plan.smallerIsBetter);
  return {
    value: shown(course.best),
    time: asked.time,
    compared_at: found.at,
    percentile,
    cutoff: shown(found.cutoff),
    rank: found.better() + 1,
    of: found.others + 1,
    competitors: found
      .neighbours(COMPETITORS_SHOWN)
      .map(({ trial, value }) => ({ trial, average: shown(value) })),
  };
}

function leftBehind(policy: PbtPolicy, index: number, asked: Case): JsonObject | null {
  const { plan } = asked.search;
  const { standing, streaks } = asked.progress;
  const streak = streaks[index] ?? 0;
  if (standing.value === null || standing.donor || streak < policy.patience) return null;
  const { population } = asked.memory;
  const place = placeAmong(population, asked.trial, standing.value, policy.quantile);
  if (!isLower(place)) return null;
  const { rank, of, lower } = place;
  const cut = of - lower;
  const from = Math.max(0, cut - COMPETITORS_SHOWN / 2);
  const shown = (ranked: number): Json => shownValue(ranked, plan.smallerIsBetter);
  const near = entriesBetween(population, from, from + COMPETITORS_SHOWN);
  return {
    value: shown(standing.value),
    time: asked.time,
    rank,
    of,
    lower,
    times: streak,
    patience: policy.patience,
    competitors: near.map(({ trial, value }) => ({ trial, value: shown(value) })),
  };
}

const MS_PER_HOUR = 3_600_000;

/** Slot-hours until now, and wall time in seconds. */
function spentOf({ usage }: PoliciesMemory): { readonly hours: number; readonly seconds: number } {
  const running = usage.slots * usage.at - usage.since;
  return {
    hours: (usage.spent + Math.max(0, running)) / MS_PER_HOUR,
    seconds: Math.max(0, usage.at - usage.startedAt) / 1_000,
  };
}

function overspent(budget: BudgetPolicy, memory: PoliciesMemory): Verdict | null {
  const { hours, seconds } = spentOf(memory);
  const { max_wall_time, max_slot_hours } = budget;
  if (max_wall_time !== null && seconds >= max_wall_time) {
    return { rule: "budget", evidence: { limit: "max_wall_time", max_wall_time, spent: seconds } };
  }
  if (max_slot_hours !== null && hours >= max_slot_hours) {
    return { rule: "budget", evidence: { limit: "max_slot_hours", max_slot_hours, spent: hours } };
  }
  return null;
}

/** The end of the search, and of its trials: a part of them at a time, the rest with what comes next. */
function budgetDecisions(search: RunningSearch, memory: PoliciesMemory): readonly Decision[] {
  const { budget } = rulesOf(search.plan);
  const verdict = budget === null ? null : overspent(budget, memory);
  if (verdict === null) return [];
  const stops = entriesBetween(memory.usage.open, 0, searchLimits.closingsPerDecisionMax).map(
    ({ trial }) => ({ kind: "stop", trial, ...verdict }) as const,
  );
  return search.finishing ? stops : [{ kind: "finish", ...verdict }, ...stops];
}

/**
 * When a budget of time will be spent if nothing else happens, in milliseconds of the epoch; null while that cannot be
 * said, or when it is spent and all has been decided; "never" where the search has no such budget.
 */
export function budgetDueAt(search: SearchState): number | null | "never" {
  const { policies: memory, plan, finishing } = search;
  const budget = memory === null || plan === null ? null : rulesOf(plan).budget;
  if (memory === null || budget === null) return "never";
  if (!limitsTime(budget)) return "never";
  const { max_wall_time, max_slot_hours } = budget;
  const { startedAt, spent, slots, since, open } = memory.usage;
  if (search.phase === "completed" || (finishing && open.size === 0)) return null;
  const dues: number[] = [];
  if (max_wall_time !== null) dues.push(startedAt + max_wall_time * 1_000);
  if (max_slot_hours !== null && slots > 0) {
    dues.push((max_slot_hours * MS_PER_HOUR - spent + since) / slots);
  }
  return dues.length === 0 ? null : Math.min(...dues);
}

/** The most trials that the search may propose by its budget; null for no such limit. */
export function trialsAllowed({ plan }: RunningSearch): number | null {
  return rulesOf(plan).budget?.max_trials ?? null;
}

export function budgetOfTrials(max_trials: number): Decision {
  const evidence = { limit: "max_trials", max_trials, spent: max_trials };
  return { kind: "finish", rule: "budget", evidence };
}

/** Whether the search has a budget of slot-hours, so that it must know of each run's start and end. */
export function countsSlots({ plan }: RunningSearch): boolean {
  return (rulesOf(plan).budget?.max_slot_hours ?? null) !== null;
}

function limitsTime({ max_wall_time, max_slot_hours }: BudgetPolicy): boolean {
  return max_wall_time !== null || max_slot_hours !== null;
}

/** Whether a search that started with these policies, as SearchStarted carries them, has to be asked when time passes. */
export function hasBudgetOfTime(recorded: JsonObject | undefined): boolean {
  return policiesIn(recorded).some(
    (policy) => "name" in policy && policy.name === "budget" && limitsTime(policy),
  );
}
