/** The policies that judge trials, by name. A policy of the configuration that is missing here is a type error. */
import { median, percentile } from "./percentile.ts";
import { noImprovement } from "./no-improvement.ts";
import { notFinite } from "./not-finite.ts";
import { pbt } from "./pbt.ts";
import type { TrialPolicyModule, TrialPolicyName } from "./module.ts";
import { threshold } from "./threshold.ts";

export const trialPolicies: { readonly [Name in TrialPolicyName]: TrialPolicyModule<Name> } = {
  no_improvement: noImprovement,
  threshold,
  median,
  percentile,
  pbt,
  not_finite: notFinite,
};
