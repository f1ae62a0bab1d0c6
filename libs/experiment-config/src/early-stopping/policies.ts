/**
 * The list under `early_stopping`, which ends trials or the whole search early. The table below is the only list of
 * policies: schema, types, defaults and checks are derived from it, and libs/search has tables of verdicts and messages
 * with the same keys.
 */
import { isMapping, itemPath, type Json, keyPath, valueAt } from "../json.ts";
import type { Note } from "../parts/part.ts";
import { budget } from "./budget.ts";
import type { PolicyModule } from "./module.ts";
import { noImprovement } from "./no-improvement.ts";
import { notFinite } from "./not-finite.ts";
import { pbt } from "./pbt.ts";
import { median, percentile } from "./percentile.ts";
import { threshold } from "./threshold.ts";

export const policies = {
  no_improvement: noImprovement,
  threshold,
  median,
  percentile,
  pbt,
  not_finite: notFinite,
  budget,
} as const satisfies Readonly<Record<string, PolicyModule>>;
export type PolicyName = keyof typeof policies;

export type PolicyOf<Name extends PolicyName> = { readonly name: Name } & ReturnType<
  (typeof policies)[Name]["read"]
>;
export type BudgetPolicy = PolicyOf<"budget">;
export type NoImprovementPolicy = PolicyOf<"no_improvement">;
export type PbtPolicy = PolicyOf<"pbt">;
export type ThresholdPolicy = PolicyOf<"threshold">;

/** The policies that judge a single trial by its reports. */
export type TrialPolicy =
  | { [Name in Exclude<PolicyName, "budget">]: PolicyOf<Name> }[Exclude<PolicyName, "budget">]
  | { readonly any: TrialPolicy[] }
  | { readonly all: TrialPolicy[] };
/** A trial's policy, or a budget, which limits the whole search. */
export type EarlyStoppingPolicy = TrialPolicy | BudgetPolicy;

/** The keys that combine policies, in place of a name. */
export const combining = ["any", "all"] as const;

/**
 * Reads the list under `early_stopping` from any JSON, with every default filled in. An unknown policy, and a
 * combination with one, is left out: it stops nothing.
 */
export function readEarlyStopping(list: Json | undefined): EarlyStoppingPolicy[] {
  return Array.isArray(list) ? list.flatMap((policy) => readPolicy(policy) ?? []) : [];
}

function readPolicy(policy: Json): EarlyStoppingPolicy | null {
  if (!isMapping(policy)) return null;
  for (const key of combining) {
    const inner = valueAt(policy, key);
    if (inner === undefined) continue;
    const members = readEarlyStopping(inner).filter(isOfTrials);
    if (!Array.isArray(inner) || members.length < inner.length) return null;
    return key === "any" ? { any: members } : { all: members };
  }
  const name = nameOf(policy);
  if (!isPolicyName(name)) return null;
  return { name, ...policies[name].read(policy) } as EarlyStoppingPolicy;
}

function isOfTrials(policy: EarlyStoppingPolicy): policy is TrialPolicy {
  return !("name" in policy) || policy.name !== "budget";
}

function isPolicyName(name: Json | undefined): name is PolicyName {
  return typeof name === "string" && Object.hasOwn(policies, name);
}

function nameOf(policy: Json): Json | undefined {
  return isMapping(policy) ? valueAt(policy, "name") : undefined;
}

/** Rules across several keys of a policy. */
export function checkEarlyStopping(list: Json | undefined, note: Note): void {
  if (!Array.isArray(list)) return;
  for (const [index, policy] of list.entries()) {
    checkPolicy(policy, itemPath("early_stopping", index), note);
  }
  const budgets = list.flatMap((policy, index) => (nameOf(policy) === "budget" ? [index] : []));
  for (const index of budgets.slice(1)) {
    note(
      itemPath("early_stopping", index),
      `is a second budget: give all limits in early_stopping[${budgets[0]}]`,
    );
  }
}

function checkPolicy(policy: Json, path: string, note: Note): void {
  if (!isMapping(policy)) return;
  for (const key of combining) checkMembers(valueAt(policy, key), keyPath(path, key), note);
  const name = nameOf(policy);
  const module: PolicyModule | null = isPolicyName(name) ? policies[name] : null;
  module?.check?.(policy, path, note);
}

function checkMembers(members: Json | undefined, path: string, note: Note): void {
  if (!Array.isArray(members)) return;
  for (const [index, member] of members.entries()) {
    const at = itemPath(path, index);
    if (nameOf(member) === "budget") {
      note(
        at,
        "is a budget, which limits the whole search: move it to the top level of early_stopping",
      );
    } else {
      checkPolicy(member, at, note);
    }
  }
}
