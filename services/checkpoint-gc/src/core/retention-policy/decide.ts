/** A person's policy in place of the one in an experiment's configuration. */
import type { EventOf } from "@trainyard/contracts";
import type { Decider } from "@trainyard/kernel";
import type { Policy } from "../policy/condemned.ts";

export type PolicyEvent = EventOf<"RetentionPolicySet">;

/** Null: the configuration's holds. */
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
    const same =
      before?.saveExperimentBest === policy.saveExperimentBest &&
      before.saveTrialBest === policy.saveTrialBest &&
      before.saveTrialLatest === policy.saveTrialLatest;
    return same ? [] : [{ type: "RetentionPolicySet", data: { policy, by, reason } }];
  },
};
