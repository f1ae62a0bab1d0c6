/**
 * The interface of an early-stopping policy: its verdict on a report, and the sentence about that verdict. The keys and
 * defaults of a policy are in libs/experiment-config, under the same name.
 */
import type { JsonObject, PolicyName, PolicyOf } from "@trainyard/experiment-config";
import type { RunningSearch } from "../state.ts";
import type { Evidence } from "../evidence.ts";
import type { EarlyStoppingState, Progress } from "./state.ts";

/** A report later than its trial's earlier ones, with the state of the trial and of the others. */
export type Case = {
  readonly search: RunningSearch;
  readonly memory: EarlyStoppingState;
  readonly trial: number;
  readonly progress: Progress;
  readonly time: number;
  /** The value as it was reported. */
  readonly value: number;
};

/** The policies that judge trials. A budget concerns the whole search and is checked at every input. */
export type TrialPolicyName = Exclude<PolicyName, "budget">;

export type TrialPolicyModule<Name extends TrialPolicyName> = {
  /** The evidence for a stop; null if the trial continues. `index` is the policy's number among those of its name. */
  readonly evidence: (policy: PolicyOf<Name>, index: number, asked: Case) => JsonObject | null;
  /** Builds the reason for users from the evidence. */
  readonly sentence: (evidence: Evidence) => string;
};

/** The most other trials that an event names as evidence. */
export const COMPETITORS_SHOWN = 16;
