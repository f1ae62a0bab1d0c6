/** The retention policy that a person sets for an experiment; it replaces the one in the configuration. */
import type { EventOf } from "@trainyard/contracts";
import type { Decider } from "@trainyard/kernel";
import type { Policy } from "../foreign/experiment.ts";
import { isSamePolicy } from "../retention-rule/condemned.ts";

export type PolicyEvent = EventOf<"RetentionPolicySet">;

/** The policy that a person set; null while the configuration's policy applies. */
export type PolicyState = { readonly policy: Policy | null };

export type PolicyCommand = {
  readonly policy: Policy;
  readonly by: string;
  readonly reason: string;
};

export const policyDecider: Decider<PolicyState, PolicyCommand, PolicyEvent> = {
  initial: { policy: null },
  evolve: (state, { data: { policy } }) => (policy === undefined ? state : { policy }),
  decide({ policy: before }, { policy, by, reason }) {
    const same = before !== null && isSamePolicy(before, policy);
    return same ? [] : [{ type: "RetentionPolicySet", data: { policy, by, reason } }];
  },
};
