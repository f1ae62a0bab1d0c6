/** Converts the input events of a search back to the commands that they record. */
import { SearchCompletion } from "@trainyard/contracts/events";
import { type HyperparameterSpace, readSearcher } from "@trainyard/experiment-config";
import { assertNever } from "@trainyard/kernel";
import { suggestionIn } from "../algorithms/recorded-suggestion.ts";
import type { RecordValidation, SearchCommand, StartSearch } from "../commands.ts";
import type { SearchEvent } from "../events.ts";
import { policiesIn } from "../early-stopping/rules.ts";

type Data<Type extends SearchEvent["type"]> = Extract<SearchEvent, { type: Type }>["data"];

/** Returns the command that an event records; null for an event that was decided. */
export function recordedCommand(event: SearchEvent): SearchCommand | null {
  switch (event.type) {
    case "SearchStarted":
      return startSearch(event.data);
    case "ObservationRecorded":
      return recordValidation(event.data);
    case "CheckpointObserved":
      return { type: "RecordCheckpoint", ...event.data };
    case "SuggestionPrepared":
      return { type: "OfferSuggestion", ...suggestionIn(event.data) };
    case "SuggestionMissed":
      return { type: "GoWithoutSuggestion", ...event.data };
    case "TrialOutcomeRecorded":
      return { type: "RecordOutcome", ...event.data };
    case "OperationsPosted":
      return {
        type: "PostOperations",
        operations: event.data.operations,
        restsOn: event.data.restsOn ?? null,
      };
    case "RunUsageRecorded":
      return { type: "RecordUsage", ...event.data };
    case "SearchTimeNoted":
      return { type: "NoteTime", ...event.data };
    case "SearchContinued": {
      const { continuation, searcher, only } = event.data;
      const section = readSearcher(searcher);
      return { type: "ContinueSearch", continuation, searcher: section, only: only ?? null };
    }
    case "TrialProposed":
    case "TrialSuspended":
    case "TrialResumed":
    case "TrialStopDecided":
    case "SearchStopDecided":
    case "SearchCompleted":
      return null;
    default:
      return assertNever(event, "a recorded search");
  }
}

/** Whether the event is the record of a cancellation, which has no input event. */
export function recordsCancellation(event: SearchEvent): boolean {
  return event.type === "SearchCompleted" && event.data.reason === SearchCompletion.CANCELED;
}

function startSearch(data: Data<"SearchStarted">): StartSearch {
  const { searcher, space, seed, earlyStopping, slotsPerTrial, atMs, earlier } = data;
  const config = {
    searcher: readSearcher(searcher),
    // The recorded space was normalised before the search started.
    hyperparameters: (space ?? {}) as HyperparameterSpace,
    early_stopping: [...policiesIn(earlyStopping)],
    ...(slotsPerTrial === undefined ? {} : { resources: { slots_per_trial: slotsPerTrial } }),
  };
  return {
    type: "StartSearch",
    config,
    seed,
    atMs,
    // The recorded trials fit the space and the limits, so the same ones are chosen again.
    ...(earlier === undefined ? {} : { earlier }),
  };
}

/**
 * A missing time is the step. Reports of superseded runs were never recorded. Of a report that lacked a metric, only
 * the names of the others are known.
 */
function recordValidation(data: Data<"ObservationRecorded">): RecordValidation {
  const { trial, run, time, values, measurement, missing, atMs } = data;
  const others = missing?.reported.map((name) => [name, Number.NaN] as const) ?? [];
  return {
    type: "RecordValidation",
    trial,
    run,
    currentRun: run,
    step: data.step ?? time,
    scalars: { ...Object.fromEntries(others), ...values },
    measurement,
    atMs,
  };
}
