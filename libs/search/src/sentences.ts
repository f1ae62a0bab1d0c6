/**
 * Sentences about a search's decisions, which people read as the reason of a trial's end. The rule and evidence are in
 * the event. For a rule without a sentence, the evidence is listed.
 */
import { budgetSentence } from "./early-stopping/budget.ts";
import { failuresSentence } from "./failures.ts";
import { trialPolicies } from "./early-stopping/policies.ts";
import { type Evidence, text } from "./evidence.ts";

export function stopSentence(rule: string, evidence: Evidence = {}): string {
  const sentence = sentences[rule]?.(evidence) ?? listed(evidence);
  return sentence === "" ? rule : `${rule}: ${sentence}`;
}

const decisionVerbs: Readonly<Record<string, string>> = {
  TrialStopDecided: "stopped",
  TrialSuspended: "suspended",
  TrialResumed: "resumed",
  SearchStopDecided: "finished",
};

/**
 * Returns the verb of a decision with a reason; undefined for other events. A proposal has one only if its trial
 * continues from another trial, since other proposals decide about no trial.
 */
export function decisionVerb(type: string, data: Evidence): string | undefined {
  if (type !== "TrialProposed") {
    const verb = decisionVerbs[type];
    return verb !== undefined && data["fails"] === true ? "failed" : verb;
  }
  const { startFromTrial, origin } = data;
  return startFromTrial === undefined
    ? undefined
    : `begun from trial ${String(startFromTrial)} as ${String(origin)}`;
}

const policySentences = Object.fromEntries(
  Object.entries(trialPolicies).map(([name, { sentence }]) => [name, sentence]),
);

const sentences: Readonly<Record<string, (evidence: Evidence) => string>> = {
  metric_missing: (evidence) => missing(evidence["metric"], "metric", evidence),
  time_metric_missing: (evidence) => missing(evidence["time_metric"], "time_metric", evidence),
  time_metric_decreased: ({ time_metric, before, time, run }) =>
    `${text(time_metric)} went back from ${text(before)} to ${text(time)} within run ${text(run)}`,
  ...policySentences,
  budget: budgetSentence,
  max_failures: failuresSentence,
  all: ({ policies }) => (Array.isArray(policies) ? policies.map(inner).join("; and ") : ""),
  halving: (evidence) => standing(evidence),
  rung_closed: (evidence) => `${standing(evidence)}, and no other trial will reach it`,
  rung_not_trusted: ({ units, first_rung }) =>
    `early values, at ${text(units)}, do not predict later ones; trials are compared from ${text(first_rung)} on`,
  client: ({ reason }) => (typeof reason === "string" ? reason : ""),
  target_reached: ({ target }) => `it has reached ${text(target)}, the target that its client set`,
  max_time: ({ units }) => `it has trained for ${text(units)}, its maximum`,
  pbt_exploit: (evidence) => copied(evidence),
  segment_end: ({ until, segment, of }) =>
    `its segment of the schedule, ${text(segment)} of ${text(of)}, lasts until ${text(until)}`,
};

function missing(name: unknown, key: string, { reported, non_numeric }: Evidence): string {
  if (non_numeric === true) {
    return `a validation reports ${text(name)}, the searcher's ${key}, as something that is not a number: report it as a number`;
  }
  return `a validation has no ${text(name)}, the searcher's ${key}; it has ${names(reported)}`;
}

/** The sentence about a member's rank in the population and its donor. */
function copied({
  value,
  time,
  rank,
  of,
  donor,
  donor_value,
  copy,
  checkpoint_time,
}: Evidence): string {
  const at = `its ${text(value)} at ${text(time)} is number ${text(rank)} of ${text(of)}`;
  return `${at}; trial ${text(copy)} replaces it and starts from trial ${text(donor)} (${text(donor_value)}) at ${text(checkpoint_time)}`;
}

/** The sentence about a trial's rank in a rung of successive halving. */
function standing({ value, units, rank, of, kept, cutoff }: Evidence): string {
  const at = `its ${text(value)} at ${text(units)} is number ${text(rank)} of ${text(of)}`;
  const on = cutoff === null || cutoff === undefined ? "" : `, down to ${text(cutoff)}`;
  return `${at}, of which ${text(kept)} continue${on}`;
}

function inner(policy: unknown): string {
  if (policy === null || typeof policy !== "object") return "";
  const { rule, evidence } = policy as { readonly rule?: unknown; readonly evidence?: Evidence };
  return stopSentence(text(rule), evidence);
}

function names(list: unknown): string {
  return Array.isArray(list) && list.length > 0 ? list.map(text).join(", ") : "nothing else";
}

function listed(evidence: Evidence): string {
  return Object.entries(evidence)
    .filter(([, value]) => value !== null && typeof value !== "object")
    .map(([name, value]) => `${name} ${text(value)}`)
    .join(", ");
}
