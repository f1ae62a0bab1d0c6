import type { EventData, Plain } from "@trainyard/contracts";
import type { Run } from "@trainyard/contracts/api";
import { StopWhy, TrialOutcome } from "@trainyard/contracts/events";
import { parseTrialId, runId } from "@trainyard/kernel";
import type { DocumentSet } from "./documents.ts";
import { rankTrial } from "./leaders.ts";
import { type Projections, runOf } from "./projections.ts";
import { neverRan } from "./run-times.ts";
import {
  endedRun,
  grantedRun,
  requestedRun,
  startedRun,
  stateWithoutStop,
  waitingRun,
  withChangedRun,
  withNewRun,
} from "./runs.ts";
import { addSealed } from "./unstored.ts";
import { recordValidation, supersedeValidations } from "./validations.ts";

const outcomeStates: Readonly<Record<number, string>> = {
  [TrialOutcome.COMPLETED]: "COMPLETED",
  [TrialOutcome.STOPPED_EARLY]: "COMPLETED",
  [TrialOutcome.CANCELED]: "CANCELED",
};

const stoppingStates: Readonly<Record<number, string>> = {
  [StopWhy.SEARCH_STOP]: "STOPPING_COMPLETED",
  [StopWhy.CANCEL]: "STOPPING_CANCELED",
  [StopWhy.KILL]: "STOPPING_KILLED",
};

/** The states of a trial in the API. */
export const trialStates: readonly string[] = [
  "ACTIVE",
  "PAUSED",
  "STOPPING_COMPLETED",
  "STOPPING_CANCELED",
  "STOPPING_KILLED",
  "COMPLETED",
  "CANCELED",
  "ERROR",
];

export const trialProjections: Projections = {
  TrialCreated({ id, data, timeMs }, documents) {
    const { experiment, number, hyperparameters, seed, origin, evidence, sourceTrial } = data;
    documents.put({
      kind: "trial",
      id,
      parent: experiment,
      ordinal: number,
      doc: {
        id,
        experiment,
        number,
        seed,
        state: "ACTIVE",
        reason: "",
        restarts: 0,
        runs: [],
        stepsCompleted: 0,
        latestCheckpoint: "",
        createdAtMs: timeMs,
        lastLogLines: [],
        progress: 0,
        ...neverRan,
        warning: "",
        origin,
        sourceTrial,
        sourceStep: data.warmStartStep ?? 0,
        ...(evidence === undefined ? {} : { proposalEvidence: evidence }),
        records: [],
        recent: [],
        versions: [],
        ...(hyperparameters === undefined ? {} : { hyperparameters }),
      },
    });
  },
  RunRequested({ id, data, timeMs }, documents) {
    documents.update("trial", id, ({ runs }) => ({
      state: "ACTIVE",
      runs: withNewRun(
        documents,
        id,
        runs,
        requestedRun(runId(id, data.run), data, timeMs, runs.at(-1)),
      ),
      sealed: [],
    }));
  },
  RunStarted({ id, data, timeMs }, documents) {
    changeRun(documents, id, data.run, () => startedRun(timeMs));
  },
  RunStopRequested({ id, data }, documents) {
    changeRun(documents, id, data.run, () => ({ state: "STOPPING" }));
    documents.update("trial", id, (doc) => ({ state: stoppingStates[data.why] ?? doc.state }));
  },
  RunStopWithdrawn({ id, data }, documents) {
    changeRun(documents, id, data.run, (run) => ({ state: stateWithoutStop(run) }));
  },
  RunEnded({ id, data, timeMs }, documents) {
    changeRun(documents, id, data.run, () => endedRun(data, timeMs));
    documents.update("trial", id, (doc) => ({
      restarts: doc.restarts + (data.countsAsRestart ? 1 : 0),
    }));
    addSealed(documents, id, data.sealed?.checkpoints);
  },
  RunCheckpointsNamed({ id, data }, documents) {
    addSealed(documents, id, data.checkpoints);
  },
  TrialEnded({ id, data, timeMs }, documents) {
    documents.update("trial", id, () => ({
      state: outcomeStates[data.outcome] ?? "ERROR",
      reason: data.reason,
      restarts: data.restarts,
      endedAtMs: timeMs,
    }));
    rankTrial(id, documents);
  },
  TrialKillRequested({ id }, documents) {
    documents.update("trial", id, () => ({ state: "STOPPING_KILLED" }));
  },
  TrialContinued({ id }, documents) {
    documents.replace("trial", id, ({ endedAtMs: _ended, ...doc }) => ({
      ...doc,
      state: "ACTIVE",
      reason: "",
      restarts: 0,
    }));
    rankTrial(id, documents);
  },
  AllocationGranted({ id, data }, documents) {
    const run = runOf(id);
    if (run === null) return;
    changeRun(documents, run.trial, run.run, () => grantedRun(data));
  },
  WaitExplained({ id, data }, documents) {
    const run = runOf(id);
    if (run === null) return;
    changeRun(documents, run.trial, run.run, () => waitingRun(data));
  },
  ValidationReported({ data, position }, documents) {
    observeValidation(data, position, documents);
  },
  MeasurementsSuperseded({ id, data }, documents) {
    const trial = documents.get("trial", id);
    if (trial === undefined) return;
    const { metric = "" } = documents.get("experiment", trial.experiment) ?? {};
    supersedeValidations(documents, trial, metric, data.afterStep);
    rankTrial(id, documents);
  },
  TrialCheckpointed({ id, data }, documents) {
    documents.update("trial", id, (doc) => ({
      latestCheckpoint: data.checkpoint,
      stepsCompleted: Math.max(doc.stepsCompleted, data.step),
    }));
  },
};

export function changeRun(
  documents: DocumentSet,
  trial: string,
  number: number,
  change: (run: Plain<Run>) => Partial<Plain<Run>>,
): void {
  documents.update("trial", trial, (doc) => ({
    runs: withChangedRun(doc.runs, number, change),
  }));
}

/** A report of a run that another run has followed does not count. */
function observeValidation(
  data: EventData<"ValidationReported">,
  position: number,
  documents: DocumentSet,
): void {
  const trial = documents.get("trial", data.trial);
  const experiment = documents.get("experiment", parseTrialId(data.trial)?.experiment ?? "");
  if (trial === undefined || experiment === undefined) return;
  const current = trial.runs[trial.runs.length - 1];
  if (current !== undefined && current.number > data.run) return;
  const { step, scalars } = data;
  recordValidation(documents, trial, { step, scalars, position }, experiment);
  rankTrial(data.trial, documents);
}
