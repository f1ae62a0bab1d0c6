import { TrialOutcome } from "@trainyard/contracts/events";
import type { OutcomeCounts } from "./state.ts";

/** The meaning of a trial's outcome; nothing for an outcome that this version does not know. */
export const countedAs: Readonly<Record<number, keyof OutcomeCounts>> = {
  [TrialOutcome.COMPLETED]: "trained",
  [TrialOutcome.STOPPED_EARLY]: "trained",
  [TrialOutcome.CANCELED]: "canceled",
  [TrialOutcome.FAILED]: "failed",
  [TrialOutcome.INVALID_HYPERPARAMETERS]: "invalid",
};
