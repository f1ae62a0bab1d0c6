/** The parts of the phases of experiments and trials: runs that start, and the rung at which a trial is suspended. */
import type { Plain } from "@trainyard/contracts";
import type { Run } from "@trainyard/contracts/api";
import { parseTrialId, trialId } from "@trainyard/kernel";
import type { DocumentSet } from "./documents.ts";
import { type Projections, runOf } from "./projections.ts";

export const phaseProjections: Projections = {
  AllocationGranted({ id }, documents) {
    const run = runOf(id);
    if (run === null) return;
    const granted = runIn(documents, run.trial, run.run);
    const waits = granted?.startedAtMs === undefined && granted?.endedAtMs === undefined;
    if (granted !== undefined && waits) starts(documents, run.trial, 1);
  },
  RunStarted({ id, data }, documents) {
    if (hasPlace(runIn(documents, id, data.run))) starts(documents, id, -1);
  },
  RunEnded({ id, data }, documents) {
    const run = runIn(documents, id, data.run);
    if (run?.startedAtMs === undefined && hasPlace(run)) starts(documents, id, -1);
  },
  ExperimentEnded({ id }, documents) {
    documents.update("experiment", id, () => ({ starting: 0 }));
  },
  TrialSuspended({ id, data }, documents) {
    // Other searches than those with rungs suspend at no rung.
    const { units } = documents.get("experiment", id) ?? {};
    if (units === undefined || units.plan.form === "whole") return;
    const suspendedAtRung = data.rung + 1;
    documents.update("trial", trialId(id, data.trial), () => ({ suspendedAtRung }));
  },
  TrialResumed: ({ id, data }, documents) => resumed(documents, trialId(id, data.trial)),
  TrialStopDecided: ({ id, data }, documents) => resumed(documents, trialId(id, data.trial)),
  TrialContinued: ({ id }, documents) => resumed(documents, id),
};

const runIn = (documents: DocumentSet, trial: string, number: number): Plain<Run> | undefined =>
  documents.get("trial", trial)?.runs.find((run) => run.number === number);

const hasPlace = (run: Plain<Run> | undefined): boolean =>
  run !== undefined && run.placements.length > 0;

function starts(documents: DocumentSet, trial: string, change: 1 | -1): void {
  documents.update("experiment", parseTrialId(trial)?.experiment ?? "", ({ starting }) => ({
    starting: Math.max(0, starting + change),
  }));
}

function resumed(documents: DocumentSet, trial: string): void {
  documents.replace("trial", trial, ({ suspendedAtRung: _rung, ...doc }) => doc);
}
