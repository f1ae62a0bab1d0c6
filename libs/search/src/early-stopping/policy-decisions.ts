/**
 * The decisions of the early-stopping policies after an input of the search. The reporting trial is stopped by the
 * first policy of the list that says so, and a spent budget ends the search. The policies decide before the algorithm,
 * and each decision records its evidence.
 */
import type { JsonObject, PolicyOf } from "@trainyard/experiment-config";
import type { Decision, Observation } from "../algorithm.ts";
import { searchLimits } from "../limits.ts";
import { entriesBetween } from "../ranking.ts";
import { isRunning, type RunningSearch, type SearchState, trialOf } from "../state.ts";
import { limitsTime, MS_PER_HOUR, overspent } from "./budget.ts";
import { policiesIn, type Rule, rulesOf } from "./rules.ts";
import { type EarlyStoppingState, progressOf } from "./state.ts";
import type { Case, TrialPolicyName } from "./module.ts";
import { trialPolicies } from "./policies.ts";
import type { RuleName } from "../sentences.ts";

type Verdict = { readonly rule: RuleName; readonly evidence: JsonObject };

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
  // A report that is not later than the trial's last is not judged; the policies judged the later one.
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
  const { policy, index } = rule;
  // A budget is checked at every input, not only at reports (`budgetDecisions`).
  const evidence = policy.name === "budget" ? null : evidenceOf(policy, index, asked);
  return evidence === null ? null : { rule: policy.name, evidence };
}

function evidenceOf<Name extends TrialPolicyName>(
  policy: PolicyOf<Name>,
  index: number,
  asked: Case,
): JsonObject | null {
  return trialPolicies[policy.name].evidence(policy, index, asked);
}

/** Ends the search and stops a part of its trials; later inputs stop the rest. */
function budgetDecisions(search: RunningSearch, memory: EarlyStoppingState): readonly Decision[] {
  const { budget } = rulesOf(search.plan);
  const evidence = budget === null ? null : overspent(budget, memory);
  if (evidence === null) return [];
  const verdict: Verdict = { rule: "budget", evidence };
  const stops = entriesBetween(memory.usage.open, 0, searchLimits.closingsPerDecisionMax).map(
    ({ trial }) => ({ kind: "stop", trial, ...verdict }) as const,
  );
  return search.finishing ? stops : [{ kind: "finish", ...verdict }, ...stops];
}

/**
 * When a budget of time will be spent if no other event occurs, in milliseconds since 1970. It is null if that is
 * unknown, or if the budget is spent and every decision was made, and "never" if the search has no such budget.
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

/** Whether the search has a budget of slot-hours, so that it needs the start and end of each run. */
export function countsSlots({ plan }: RunningSearch): boolean {
  return (rulesOf(plan).budget?.max_slot_hours ?? null) !== null;
}

/** Whether a search with these policies, as SearchStarted records them, must be notified as time passes. */
export function hasBudgetOfTime(recorded: JsonObject | undefined): boolean {
  return policiesIn(recorded).some(
    (policy) => "name" in policy && policy.name === "budget" && limitsTime(policy),
  );
}
