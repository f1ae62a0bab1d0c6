/**
 * The progress of experiments and trials, the time in which they ran, and when they will have ended. The rules are the
 * search's (`libs/search/src/progress`); this fold keeps each trial's place and the experiment's tally.
 */
import type { EventData } from "@trainyard/contracts";
import { ExperimentOutcome, TrialOutcome } from "@trainyard/contracts/events";
import { type HyperparameterSpace, readSearcher } from "@trainyard/experiment-config";
import { parseTrialId, trialId } from "@trainyard/kernel";
import {
  emptyTally,
  endedPlace,
  estimatedFromShare,
  moved,
  newPlace,
  placeAfter,
  progressOf,
  reachedOf,
  reportedPlace,
  type SearchEvent,
  timeLeft,
  type TrialPlace,
  unitPlanOf,
} from "@trainyard/search";
import type { DocumentSet, ExperimentDocument, TrialDocument } from "./documents.ts";
import type { Projections } from "./projections.ts";
import { ended, ranUntil, started, workedUntil } from "./run-times.ts";

export const progressProjections: Projections = {
  SearchStarted({ id, data }, documents) {
    const searcher = data.searcher === undefined ? null : readSearcher(data.searcher);
    const plan = unitPlanOf(searcher, (data.space ?? {}) as HyperparameterSpace, data.trialsMax);
    if (plan === null) return;
    const units = { plan, tally: emptyTally(plan), proposesNoMore: false };
    documents.update("experiment", id, () => ({ units }));
  },
  SearchContinued({ id, data, timeMs }, documents) {
    continueSearch(id, data, documents);
    showExperiment(id, timeMs, documents, "may fall");
  },
  SearchStopDecided({ id, timeMs }, documents) {
    documents.update("experiment", id, ({ units }) =>
      units === undefined ? {} : { units: { ...units, proposesNoMore: true } },
    );
    showExperiment(id, timeMs, documents);
  },
  OperationsPosted({ id, data }, documents) {
    const told = data.operations.findLast(({ operation }) => operation.case === "progress");
    if (told?.operation.case !== "progress") return;
    const { progress } = told.operation.value;
    // The progress that the search's client posts replaces the computed one.
    documents.replace("experiment", id, ({ units: _units, estimatedEndAtMs: _at, ...doc }) => ({
      ...doc,
      progress,
    }));
  },
  TrialProposed({ id, data }, documents) {
    const { number, startFromTime: from = 0 } = data;
    if (from === 0) return;
    documents.update("experiment", id, ({ startTimes = {} }) => ({
      startTimes: { ...startTimes, [number]: from },
    }));
  },
  TrialCreated({ id, data, timeMs }, documents) {
    const { startTimes = {} } = documents.get("experiment", data.experiment) ?? {};
    const { [data.number]: from = 0, ...others } = startTimes;
    if (from > 0) documents.update("experiment", data.experiment, () => ({ startTimes: others }));
    changePlace(id, timeMs, documents, () => newPlace(from));
  },
  ObservationRecorded({ id, data, timeMs }, documents) {
    // Without max_time only a report of progress tells how far a trial is, and at which rate it trains.
    if (documents.get("experiment", id)?.units?.plan.timed === false) return;
    observe(id, timeMs, documents, { type: "ObservationRecorded", data });
  },
  TrialSuspended: ({ id, data, timeMs }, documents) =>
    observe(id, timeMs, documents, { type: "TrialSuspended", data }),
  TrialResumed: ({ id, data, timeMs }, documents) =>
    observe(id, timeMs, documents, { type: "TrialResumed", data }),
  TrialStopDecided: ({ id, data, timeMs }, documents) =>
    observe(id, timeMs, documents, { type: "TrialStopDecided", data }),
  ProgressReported({ id, data, timeMs }, documents) {
    const { run } = data;
    const fraction = data.percent / 100;
    const { runs, reported } = documents.get("trial", id) ?? {};
    const current = runs?.at(-1);
    if (current !== undefined && current.number > run) return;
    documents.update("trial", id, () => ({ reported: { run, fraction } }));
    const falls = run > (reported?.run ?? run) ? "may fall" : "rises";
    const change = (place: TrialPlace, plan: Units["plan"]) =>
      reportedPlace(plan, place, { run, fraction });
    changePlace(id, timeMs, documents, change, falls);
  },
  TrialEnded({ id, data, timeMs }, documents) {
    changePlace(id, timeMs, documents, (place, plan) => endedPlace(plan, place, data.outcome));
    const { COMPLETED, STOPPED_EARLY } = TrialOutcome;
    if (data.outcome !== COMPLETED && data.outcome !== STOPPED_EARLY) return;
    documents.replace("trial", id, ({ estimatedEndAtMs: _at, ...doc }) => ({
      ...doc,
      progress: 1,
    }));
  },
  TrialContinued({ id, timeMs }, documents) {
    const again = (place: TrialPlace): TrialPlace => ({ ...place, status: "trains" });
    changePlace(id, timeMs, documents, again, "may fall");
  },
  RunStarted({ id, timeMs }, documents) {
    changeTimes(id, documents, (times) => started(times, timeMs));
    showTrial(id, timeMs, documents);
    showExperiment(parseTrialId(id)?.experiment ?? "", timeMs, documents);
  },
  RunEnded({ id, data, timeMs }, documents) {
    const run = documents.get("trial", id)?.runs.find(({ number }) => number === data.run);
    if (run?.startedAtMs === undefined) return;
    changeTimes(id, documents, (times) => ended(times, timeMs));
    showTrial(id, timeMs, documents);
    showExperiment(parseTrialId(id)?.experiment ?? "", timeMs, documents);
  },
  ExperimentEnded({ id, data }, documents) {
    const completed = data.outcome === ExperimentOutcome.COMPLETED;
    documents.replace("experiment", id, ({ estimatedEndAtMs: _at, ...doc }) => ({
      ...doc,
      progress: completed ? 1 : doc.progress,
    }));
  },
};

type Units = NonNullable<ExperimentDocument["units"]>;
type Falls = "rises" | "may fall";

function observe(
  experiment: string,
  timeMs: number,
  documents: DocumentSet,
  event: SearchEvent,
): void {
  if (!("trial" in event.data)) return;
  changePlace(trialId(experiment, Number(event.data.trial)), timeMs, documents, (place, plan) =>
    placeAfter(plan, place, event),
  );
}

function changePlace(
  id: string,
  timeMs: number,
  documents: DocumentSet,
  change: (place: TrialPlace, plan: Units["plan"]) => TrialPlace,
  falls: Falls = "rises",
): void {
  const trial = documents.get("trial", id);
  const { id: experiment = "", units } =
    documents.get("experiment", parseTrialId(id)?.experiment ?? "") ?? {};
  if (trial === undefined) return;
  if (units === undefined) {
    showTrial(id, timeMs, documents, falls);
    return;
  }
  const before = trial.place ?? null;
  const place = change(before ?? newPlace(0), units.plan);
  const tally = moved(units.plan, units.tally, before, place);
  documents.update("trial", id, () => ({ place }));
  documents.update("experiment", experiment, () => ({ units: { ...units, tally } }));
  const laterRun = before !== null && before.run > 0 && place.run > before.run;
  const may = laterRun ? "may fall" : falls;
  showTrial(id, timeMs, documents, may);
  showExperiment(experiment, timeMs, documents, may);
}

/** The trials that train again leave the tally of the old plan and join that of the new one. */
function continueSearch(
  id: string,
  { trials, searcher, trialsMax }: EventData<"SearchContinued">,
  documents: DocumentSet,
): void {
  const { units } = documents.get("experiment", id) ?? {};
  if (units === undefined) return;
  const section = searcher === undefined ? null : readSearcher(searcher);
  const plan = unitPlanOf(section, {}, trialsMax) ?? units.plan;
  const sameStages = plan.stages.length === units.plan.stages.length;
  let tally = sameStages ? units.tally : emptyTally(plan);
  for (const trial of trials.map((number) => trialId(id, number))) {
    const { place } = documents.get("trial", trial) ?? {};
    if (place === undefined) continue;
    const again: TrialPlace = { ...place, status: "trains" };
    if (sameStages) tally = moved(units.plan, tally, place, null);
    tally = moved(plan, tally, null, again);
    documents.update("trial", trial, () => ({ place: again }));
  }
  documents.update("experiment", id, () => ({ units: { plan, tally, proposesNoMore: false } }));
}

function changeTimes(
  trial: string,
  documents: DocumentSet,
  change: <Times extends ExperimentDocument | TrialDocument>(times: Times) => Times,
): void {
  documents.replace("trial", trial, change);
  documents.replace("experiment", parseTrialId(trial)?.experiment ?? "", change);
}

/**
 * Updates the shown progress of a trial. What its code reports counts before its place in the search, unless a later
 * run has been observed. It falls only with the first report of a later run, or if the trial is continued.
 */
function showTrial(
  id: string,
  timeMs: number,
  documents: DocumentSet,
  falls: Falls = "rises",
): void {
  const { units } = documents.get("experiment", parseTrialId(id)?.experiment ?? "") ?? {};
  documents.replace("trial", id, ({ estimatedEndAtMs: _before, ...doc }) => {
    const { place, reported } = doc;
    const reached = units === undefined || place === undefined ? 0 : reachedOf(units.plan, place);
    const told = reported !== undefined && reported.run >= (place?.run ?? 0);
    const now = told ? reported.fraction : reached;
    const shown = falls === "rises" ? Math.max(doc.progress, now) : now;
    const progress = doc.state === "COMPLETED" ? 1 : shown;
    // Nobody knows how far a trial of a halving search will train.
    if (units?.plan.form !== "whole" || place === undefined) return { ...doc, progress };
    const whole = units.plan.stages[0]?.until ?? 1;
    const at = endAt(doc, timeMs, place.time - place.from, whole - place.time);
    return { ...doc, progress, ...(at === null ? {} : { estimatedEndAtMs: at }) };
  });
}

/** Updates the shown progress of an experiment. It falls only if a trial or the search was continued. */
function showExperiment(
  id: string,
  timeMs: number,
  documents: DocumentSet,
  falls: Falls = "rises",
): void {
  documents.replace("experiment", id, ({ estimatedEndAtMs: _before, ...doc }) => {
    if (doc.units === undefined) return doc;
    const { plan, tally, proposesNoMore } = doc.units;
    const now = progressOf(plan, tally, proposesNoMore);
    const time = { ran: ranUntil(doc, timeMs), worked: workedUntil(doc, timeMs) };
    const trains = doc.runningSinceMs !== undefined;
    const left = trains ? timeLeft(plan, tally, time, proposesNoMore) : null;
    return {
      ...doc,
      progress: falls === "rises" ? Math.max(doc.progress, now) : now,
      ...(left === null ? {} : { estimatedEndAtMs: Math.round(timeMs + left) }),
    };
  });
}

/** Returns when a trial will have trained its remaining units at the rate so far; null if nothing trains. */
function endAt(
  times: Pick<TrialDocument, "ranMs" | "runningSinceMs">,
  timeMs: number,
  trained: number,
  remaining: number,
): number | null {
  const ran = ranUntil(times, timeMs);
  if (times.runningSinceMs === undefined || ran <= 0 || remaining <= 0) return null;
  if (trained < estimatedFromShare * (trained + remaining)) return null;
  return Math.round(timeMs + (remaining * ran) / trained);
}
