/** Decides when an experiment is over, and with which outcome. */
import { ExperimentOutcome, SearchCompletion } from "@trainyard/contracts/events";
import type { ExperimentState } from "../experiment/state.ts";
import type { SearchState } from "../foreign/search.ts";
import type { TrialState } from "../trial/state.ts";
import { isStopping } from "./next-step.ts";

/** Whether the experiment ends as soon as no trial is open. If not, its trials need not be read. */
export function mayEnd(experiment: ExperimentState, search: SearchState): boolean {
  if (experiment.status === "none" || experiment.status === "ended") return false;
  if (isStopping(experiment)) return true;
  // A completion from before a continuation does not count: the search has not seen the continuation yet.
  return search.completed !== null && search.continuation === experiment.continuation;
}

/**
 * Whether a trial can do nothing more, in an experiment that may end. A proposal without a trial still becomes one,
 * unless the experiment is stopping.
 */
export function isClosed(experiment: ExperimentState, { status }: TrialState): boolean {
  return status === "ended" || (status === "none" && isStopping(experiment));
}

export type End = { readonly outcome: ExperimentOutcome; readonly reason: string };

/** Returns the end of an experiment. `lastFailure`: the reason of the last failed trial; empty for none. */
export function experimentEnd(
  experiment: ExperimentState,
  search: SearchState,
  lastFailure: string,
): End {
  if (experiment.stop !== null) {
    return { outcome: ExperimentOutcome.CANCELED, reason: experiment.stop.reason || "canceled" };
  }
  switch (search.completed) {
    case SearchCompletion.EXHAUSTED:
      return {
        outcome: ExperimentOutcome.COMPLETED,
        reason: search.finished || "the search is complete",
      };
    case SearchCompletion.FAILED: {
      const trials = lastFailure || "no trial could be trained to an end";
      return {
        outcome: ExperimentOutcome.FAILED,
        reason: search.failing ? search.finished : trials,
      };
    }
    default:
      return { outcome: ExperimentOutcome.CANCELED, reason: "the search was canceled" };
  }
}
