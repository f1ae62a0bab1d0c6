/** When an experiment is over, and how it ended. */
import { ExperimentOutcome, SearchCompletion } from "@trainyard/contracts/events";
import type { ExperimentState } from "../experiment/state.ts";
import type { SearchState } from "../foreign/search.ts";
import type { TrialState } from "../trial/state.ts";
import { isStopping } from "./next-step.ts";

/** Whether it ends as soon as no trial is open: before that, nobody need look at the trials. */
export function mayEnd(experiment: ExperimentState, search: SearchState): boolean {
  if (experiment.status === "none" || experiment.status === "ended") return false;
  if (isStopping(experiment)) return true;
  // A completion from before a continuation is none: the search has not heard of that yet.
  return search.completed !== null && search.continuation === experiment.continuation;
}

/**
 * Whether nothing more can come of a trial of an experiment that may end. A proposal that was not reached yet becomes a
 * trial, unless the experiment is stopping.
 */
export function isClosed(experiment: ExperimentState, { status }: TrialState): boolean {
  return status === "ended" || (status === "none" && isStopping(experiment));
}

export type End = { readonly outcome: ExperimentOutcome; readonly reason: string };

/** `lastFailure`: how the last trial that failed did; empty for none. */
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
