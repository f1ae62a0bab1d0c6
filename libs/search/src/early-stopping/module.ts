/**
 * An early-stopping policy as a search knows it: its verdict on a report, and the sentence about that verdict. Its keys
 * and defaults are in libs/experiment-config, under the same name.
 */
import type { JsonObject, PolicyName, PolicyOf } from "@trainyard/experiment-config";
import type { RunningSearch } from "../state.ts";
import type { Evidence } from "../evidence.ts";
import type { EarlyStoppingState, Progress } from "./state.ts";

/** A report that brought its trial further, with what is remembered of the trial and of the others. */
export type Case = {
  readonly search: RunningSearch;
  readonly memory: EarlyStoppingState;
  readonly trial: number;
  readonly progress: Progress;
  readonly time: number;
  /** The time as it was reported. */
  readonly value: number;
};

/** A budget is of the whole search, and asked beside the reports. */
export type TrialPolicyName = Exclude<PolicyName, "budget">;

export type TrialPolicyModule<Name extends TrialPolicyName> = {
  /** The evidence for a stop; null if the trial continues. `index` is the policy's number among those of its name. */
  readonly evidence: (policy: PolicyOf<Name>, index: number, asked: Case) => JsonObject | null;
  /** The reason that people read, from the evidence. */
  readonly sentence: (evidence: Evidence) => string;
};

/** Others that an event names: enough to see what a trial was compared with. */
export const COMPETITORS_SHOWN = 16;
