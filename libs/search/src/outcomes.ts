import { TrialOutcome } from "@trainyard/contracts/events";
import type { OutcomeCounts } from "./state.ts";

/** The count to which a trial's outcome adds; undefined for an outcome that this version does not know. */
export const countedAs: Readonly<Record<number, keyof OutcomeCounts>> = {
  [TrialOutcome.COMPLETED]: "trained",
  [TrialOutcome.STOPPED_EARLY]: "trained",
  [TrialOutcome.CANCELED]: "canceled",
  [TrialOutcome.FAILED]: "failed",
  [TrialOutcome.INVALID_HYPERPARAMETERS]: "invalid",
};
