/**
 * Sentences about a search's decisions, which people read as the reason of a trial's end, in `search explain` and on
 * the pages. The rule and evidence are in the event. The table below is the only list of rules: a decision by a rule
 * without a sentence is a type error. For a rule that another version recorded, the evidence is listed.
 */
import { budgetSentence } from "./early-stopping/budget.ts";
import type { TrialPolicyName } from "./early-stopping/module.ts";
import { trialPolicies } from "./early-stopping/policies.ts";
import { clientSentence, customSentences } from "./custom/sentences.ts";
import { type Evidence, type Sentence, text } from "./evidence.ts";
import { failuresSentence } from "./failures.ts";
import { halvingSentences } from "./halving/sentences.ts";
import { pbtSentences, scheduleSentences } from "./population/sentences.ts";

/** Returns the reason in words. It names the rule where the rule is a word of the configuration or of a client. */
export function stopSentence(rule: string, evidence: Evidence = {}): string {
  const sentence = isRuleName(rule) ? sentences[rule](evidence) : listed(evidence);
  if (sentence === "") return rule;
  return Object.hasOwn(ownRules, rule) ? sentence : `${rule}: ${sentence}`;
}

/** A decision with a reason, in words. The sentence of a copy names what it changes; it may be empty. */
export type DecisionWords = { readonly verb: string; readonly sentence: string };

/**
 * Returns the words for an event; undefined for an event that decides nothing. A proposal decides only if its trial
 * continues from another trial.
 */
export function decisionWords(type: string, data: Evidence): DecisionWords | undefined {
  const evidence = (data["evidence"] ?? {}) as Evidence;
  if (type === "TrialProposed") {
    const { startFromTrial } = data;
    if (startFromTrial === undefined) return undefined;
    return { verb: `started from trial ${text(startFromTrial)}`, sentence: changed(evidence) };
  }
  const verb = decisionVerbs[type];
  if (verb === undefined) return undefined;
  const { rule, fails } = data;
  const sentence = typeof rule === "string" && rule !== "" ? stopSentence(rule, evidence) : "";
  return { verb: fails === true ? "failed" : verb, sentence };
}

/** Returns one line about a decision, such as "stopped: it ranks 7 of 9 …". */
export function decisionLine({ verb, sentence }: DecisionWords): string {
  return sentence === "" ? verb : `${verb}: ${sentence}`;
}

const decisionVerbs: Readonly<Record<string, string>> = {
  TrialStopDecided: "stopped",
  TrialSuspended: "suspended",
  TrialResumed: "resumed",
  SearchStopDecided: "finished",
};

/** The hyperparameters that a copy changes, as "lr 0.01 → 0.008". */
function changed({ changes }: Evidence): string {
  const list = (Array.isArray(changes) ? changes : []) as readonly Evidence[];
  return list
    .filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to))
    .map(({ hyperparameter, from, to }) => `${text(hyperparameter)} ${shown(from)} → ${shown(to)}`)
    .join(", ");
}

const shown = (value: unknown): string =>
  value !== null && typeof value === "object" ? JSON.stringify(value) : text(value);

const policySentences = Object.fromEntries(
  Object.entries(trialPolicies).map(([name, { sentence }]) => [name, sentence]),
) as { readonly [Name in TrialPolicyName]: Sentence };

/** The rules that searches have of themselves: their names say nothing to a reader. */
const ownRules = {
  max_time: ({ units }) => `it has trained to time ${text(units)}, its maximum`,
  ...halvingSentences,
  ...pbtSentences,
  ...scheduleSentences,
  ...customSentences,
} as const satisfies Readonly<Record<string, Sentence>>;

const sentences = {
  metric_missing: (evidence) => missing(evidence["metric"], "metric", evidence),
  time_metric_missing: (evidence) => missing(evidence["time_metric"], "time_metric", evidence),
  time_metric_decreased: ({ time_metric, before, time, run }) =>
    `${text(time_metric)} went back from ${text(before)} to ${text(time)} within run ${text(run)}`,
  ...policySentences,
  all: ({ policies }) => (Array.isArray(policies) ? policies.map(inner).join("; and ") : ""),
  budget: budgetSentence,
  max_failures: failuresSentence,
  ...ownRules,
  client: clientSentence,
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
