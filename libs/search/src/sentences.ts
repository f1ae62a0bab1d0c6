/**
 * Sentences about a search's decisions, which people read as the reason of a trial's end. The rule and evidence are in
 * the event. The table below is the only list of rules: a decision by a rule without a sentence is a type error. For a
 * rule that another version recorded, the evidence is listed.
 */
import { budgetSentence } from "./early-stopping/budget.ts";
import type { TrialPolicyName } from "./early-stopping/module.ts";
import { trialPolicies } from "./early-stopping/policies.ts";
import { customSentences } from "./custom/sentences.ts";
import { type Evidence, type Sentence, text } from "./evidence.ts";
import { failuresSentence } from "./failures.ts";
import { halvingSentences } from "./halving/sentences.ts";
import { pbtSentences, scheduleSentences } from "./population/sentences.ts";

export function stopSentence(rule: string, evidence: Evidence = {}): string {
  const sentence = isRuleName(rule) ? sentences[rule](evidence) : listed(evidence);
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
) as { readonly [Name in TrialPolicyName]: Sentence };

const sentences = {
  metric_missing: (evidence) => missing(evidence["metric"], "metric", evidence),
  time_metric_missing: (evidence) => missing(evidence["time_metric"], "time_metric", evidence),
  time_metric_decreased: ({ time_metric, before, time, run }) =>
    `${text(time_metric)} went back from ${text(before)} to ${text(time)} within run ${text(run)}`,
  ...policySentences,
  all: ({ policies }) => (Array.isArray(policies) ? policies.map(inner).join("; and ") : ""),
  budget: budgetSentence,
  max_failures: failuresSentence,
  max_time: ({ units }) => `it has trained for ${text(units)}, its maximum`,
  ...halvingSentences,
  ...pbtSentences,
  ...scheduleSentences,
  ...customSentences,
} as const satisfies Readonly<Record<string, Sentence>>;

/** A rule by which a search decides. */
export type RuleName = keyof typeof sentences;

function isRuleName(rule: string): rule is RuleName {
  return Object.hasOwn(sentences, rule);
}

function missing(name: unknown, key: string, { reported, non_numeric }: Evidence): string {
  if (non_numeric === true) {
    return `a validation reports ${text(name)}, the searcher's ${key}, as something that is not a number: report it as a number`;
  }
  return `a validation has no ${text(name)}, the searcher's ${key}; it has ${names(reported)}`;
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
