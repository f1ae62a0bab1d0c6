/** The changes of a trial's place by the events of its search. */
import type { EventData } from "@trainyard/contracts";
import { TrialOutcome } from "@trainyard/contracts/events";
import type { SearchEvent } from "../events.ts";
import type { Place } from "./tally.ts";
import type { UnitPlan } from "./unit-plan.ts";

/** The place of a trial with the run of its last report. */
export type TrialPlace = Place & { readonly run: number };

/** `from` is the time of the checkpoint from which the trial counts. */
export function newPlace(from: number): TrialPlace {
  return { from, time: from, status: "trains", run: 0 };
}

/** Returns the place after an event of the search about the trial. */
export function placeAfter(plan: UnitPlan, place: TrialPlace, event: SearchEvent): TrialPlace {
  switch (event.type) {
    case "ObservationRecorded":
      return plan.timed ? observed(place, event.data) : place;
    case "TrialSuspended":
      return { ...place, status: "suspended" };
    case "TrialResumed":
      return { ...place, status: "trains" };
    case "TrialStopDecided":
      return { ...place, status: event.data.fails === true ? "lost" : "done" };
    default:
      return place;
  }
}

/** A later run repeats a part of the training, so that the time may fall. */
function observed(
  place: TrialPlace,
  { run, time, missing }: EventData<"ObservationRecorded">,
): TrialPlace {
  if (missing !== undefined || run < place.run) return place;
  return { ...place, run, time: run > place.run ? time : Math.max(place.time, time) };
}

/** Returns the place after the trial's code reported the completed part of its training, from 0 to 1. */
export function reportedPlace(
  { form, stages }: UnitPlan,
  place: TrialPlace,
  { run, fraction }: { readonly run: number; readonly fraction: number },
): TrialPlace {
  // In halving the code may report the part of the training until the next rung.
  if (form !== "whole" || run < place.run) return place;
  const time = fraction * (stages[0]?.until ?? 1);
  return { ...place, run, time: run > place.run ? time : Math.max(place.time, time) };
}

export function endedPlace(plan: UnitPlan, place: TrialPlace, outcome: TrialOutcome): TrialPlace {
  switch (outcome) {
    case TrialOutcome.COMPLETED:
      return { ...place, status: "done", ...(plan.timed ? {} : { time: 1 }) };
    case TrialOutcome.STOPPED_EARLY:
      return { ...place, status: "done", ...(plan.timed ? {} : { time: place.time || 1 }) };
    case TrialOutcome.INVALID_HYPERPARAMETERS:
      return { ...place, status: "void" };
    default:
      return { ...place, status: "lost" };
  }
}
