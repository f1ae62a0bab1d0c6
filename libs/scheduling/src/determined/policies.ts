import type { PolicyName } from "../settings.ts";

type DeterminedPolicy = "priority" | "fair_share";

/** Determined's policy for each policy of a pool; null for a policy that Determined does not have. */
const determinedPolicies: Readonly<Record<PolicyName, DeterminedPolicy | null>> = {
  priority: "priority",
  fair_share: "fair_share",
  round_robin: null,
};

export function hasPolicy(policy: PolicyName): boolean {
  return determinedPolicies[policy] !== null;
}

/** A pool whose policy Determined does not have is refused (`config.ts`); one that is recorded goes by priority. */
export function determinedPolicyOf(policy: PolicyName): DeterminedPolicy {
  return determinedPolicies[policy] ?? "priority";
}
