/** Decides whether an ended experiment continues, and whether an ended trial is restarted. */
import { TrialOutcome } from "@trainyard/contracts/events";
import { type Rejection, reject } from "@trainyard/kernel";
import { type Continuation, searcherFacts } from "@trainyard/experiment-config/recorded";
import { limits } from "../../limits.ts";
import type { ContinueCommand, RestartTrialCommand } from "./commands.ts";
import type { ExperimentEvent, ExperimentState, SearchSize } from "./state.ts";

type Decision = readonly ExperimentEvent[] | Rejection;

const alreadySo: Decision = [];
const isArchived = reject("experiment_archived", "the experiment is archived: unarchive it first");
const units: readonly string[] = ["", "batches", "records", "epochs"];

export function continueExperiment(
  state: ExperimentState,
  { request, change, isUnfinished }: ContinueCommand,
): Decision {
  const { status, archived, size } = state;
  if (request === state.continuedBy) return alreadySo;
  if (status !== "ended") {
    return reject("experiment_not_ended", "the experiment has not ended: it cannot be continued");
  }
  if (archived) return isArchived;
  const problem = unsupported(size.algorithm) ?? problemOf(size, change);
  if (problem !== null) return problem;
  if (change.maxTrials === undefined && change.maxLength === undefined && !isUnfinished) {
    if (triesAllPoints(size)) {
      const detail =
        "the experiment is complete, and its grid has no more points: fork the experiment";
      return reject("continue_unsupported", detail);
    }
    const what = searcherFacts(size.algorithm).hasOneTrial
      ? "its trial completed: give a longer max_length"
      : "no trial failed or was canceled: give more max_trials";
    return reject("nothing_to_continue", `the experiment is complete, and ${what}`);
  }
  return [continued(state, change, request)];
}

export function restartTrial(
  state: ExperimentState,
  { request, number, outcome }: RestartTrialCommand,
): Decision {
  const { stop, status, archived, size } = state;
  if (request === state.continuedBy) return alreadySo;
  if (stop !== null && status !== "ended") {
    return reject("experiment_stopping", "the experiment is being stopped for good");
  }
  if (archived) return isArchived;
  const problem = unsupported(size.algorithm) ?? refusedOutcome(outcome);
  if (problem !== null) return problem;
  const event = continued(state, {}, request);
  return [{ ...event, data: { ...event.data, trial: number } }];
}

function continued(
  { continuation, size }: ExperimentState,
  { maxTrials, maxLength, lengthUnit = "" }: Continuation,
  request: string,
): Extract<ExperimentEvent, { type: "ExperimentContinued" }> {
  const unit = lengthUnit || size.length?.unit || "";
  return {
    type: "ExperimentContinued",
    data: {
      continuation: continuation + 1,
      request,
      ...(maxTrials === undefined ? {} : { maxTrials }),
      ...(maxLength === undefined ? {} : { maxLength, lengthUnit: unit }),
    },
  };
}

function unsupported(algorithm: string): Rejection | null {
  if (searcherFacts(algorithm).continues) return null;
  const detail = `a search by ${algorithm} does not continue: fork the experiment`;
  return reject("continue_unsupported", detail);
}

/** A grid has no more trials than points, so that no number of trials continues a complete one. */
function triesAllPoints({ algorithm, maxTrials }: SearchSize): boolean {
  return algorithm === "grid" && maxTrials === 0;
}

function refusedOutcome(outcome: TrialOutcome | null): Rejection | null {
  switch (outcome) {
    case TrialOutcome.FAILED:
    case TrialOutcome.CANCELED:
      return null;
    case null:
      return reject("trial_not_ended", "the trial has not ended: kill it first");
    case TrialOutcome.INVALID_HYPERPARAMETERS:
      return reject("trial_invalid", "the trial's hyperparameters are invalid");
    default:
      return reject("trial_completed", "the trial completed: a completed trial cannot be repeated");
  }
}

function problemOf(size: SearchSize, change: Continuation): Rejection | null {
  const { maxTrials, maxLength, lengthUnit = "" } = change;
  const { hasOneTrial } = searcherFacts(size.algorithm);
  if (maxLength !== undefined && !hasOneTrial) {
    return reject("continue_unsupported", "only a single search continues with a new max_length");
  }
  if (maxTrials !== undefined) {
    if (hasOneTrial) {
      return reject("continue_unsupported", "a single search has one trial: give a new max_length");
    }
    if (triesAllPoints(size)) {
      const detail = "a grid without max_trials tries all its points: it has no more trials";
      return reject("continue_unsupported", detail);
    }
    if (maxTrials <= size.maxTrials || maxTrials > limits.trialsMax) {
      const detail = `max_trials must be more than ${size.maxTrials}, and at most ${limits.trialsMax}`;
      return reject("invalid_request", detail);
    }
  }
  if (!units.includes(lengthUnit)) {
    return reject("invalid_request", "the unit of a length is batches, records or epochs");
  }
  const { length } = size;
  const isCompared = length !== null && (lengthUnit === "" || lengthUnit === length.unit);
  const least = isCompared ? length.length : 0;
  if (maxLength !== undefined && maxLength <= least) {
    const shown = `${least} ${isCompared ? length.unit : ""}`.trim();
    return reject("invalid_request", `max_length must be more than ${shown}`);
  }
  return null;
}
