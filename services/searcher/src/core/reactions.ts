/** Translates events of other services into commands of a search. The decisions are made in libs/search. */
import type { EventData } from "@trainyard/contracts";
import { recordedConfig } from "@trainyard/experiment-config/recorded";
import { parseTrialId } from "@trainyard/kernel";
import type {
  RecordCheckpoint,
  RecordOutcome,
  RecordValidation,
  StartSearch,
} from "@trainyard/search";

export function startSearch(
  { config, seed }: EventData<"ExperimentCreated">,
  atMs: number,
): StartSearch {
  return { type: "StartSearch", config: recordedConfig(config), seed, atMs };
}

/**
 * Makes the command for a report; null if the report is not of a trial. `currentRun` is the trial's newest run at the
 * report's position.
 */
export function recordValidation(
  reported: EventData<"ValidationReported">,
  measurement: string,
  currentRun: number,
  atMs: number,
): RecordValidation | null {
  const { trial, run, step, scalars, nonNumeric } = reported;
  const parts = parseTrialId(trial);
  if (parts === null) return null;
  return {
    type: "RecordValidation",
    trial: parts.number,
    run,
    currentRun,
    step,
    scalars,
    nonNumeric,
    measurement,
    atMs,
  };
}

export function recordCheckpoint(
  trial: number,
  { checkpoint, run, step }: EventData<"TrialCheckpointed">,
): RecordCheckpoint {
  return { type: "RecordCheckpoint", trial, checkpoint, run, step };
}

export function recordOutcome(
  trial: number,
  { outcome }: EventData<"TrialEnded">,
  atMs: number,
): RecordOutcome {
  return { type: "RecordOutcome", trial, outcome, atMs };
}
