/**
 * Turns commands into the search's events. The input event is applied before the algorithm decides: a decision applies
 * its events to the search to continue from them, and the machine undoes them.
 */
import { encodedBytes, type EventData, type EventOf } from "@trainyard/contracts";
import { SearchCompletion, TrialOutcome } from "@trainyard/contracts/events";
import {
  assert,
  assertNever,
  isSuperseded,
  limits,
  type Rejection,
  reject,
} from "@trainyard/kernel";
import { searcherFacts } from "@trainyard/experiment-config";
import type { Decision, Observation } from "./algorithm.ts";
import { algorithmOf, newestAlgorithm } from "./algorithms/registry.ts";
import { type Failure, missingFailure, missingIn, timeOf, timeWentBack } from "./bad-reports.ts";
import { continuation } from "./continuation.ts";
import type {
  ContinueSearch,
  NoteTime,
  RecordCheckpoint,
  RecordOutcome,
  RecordUsage,
  RecordValidation,
  SearchCommand,
  StartSearch,
} from "./commands.ts";
import { postOperations } from "./custom/decide.ts";
import { completed, eventsOf, exhausted, goesOn } from "./decision-events.ts";
import { chosenEarlier, type EarlierTrials } from "./earlier.ts";
import type { SearchEvent } from "./events.ts";
import { failureDecisions } from "./failures.ts";
import { isKnownOutcome, wasObserved } from "./apply.ts";
import { countsSlots, policyDecisions } from "./early-stopping/policy-decisions.ts";
import { POLICIES_VERSION } from "./early-stopping/rules.ts";
import { awaitedTrial, suggestionInput } from "./suggestions.ts";
import {
  isOpen,
  isRunning,
  isStarted,
  type RunningSearch,
  trialOf,
  type TrialState,
} from "./state.ts";
import type { TriedSearch } from "./tried-search.ts";

type Decided = readonly SearchEvent[] | Rejection;
type Writable<Data> = { -readonly [Key in keyof Data]: Data[Key] };

/** Decides on a command. Its events remain applied to the search: the caller undoes them. */
export function decide(tried: TriedSearch, command: SearchCommand): Decided {
  const { state: search } = tried;
  if (command.type === "StartSearch") return startSearch(tried, command);
  if (!isStarted(search)) return reject("search_unknown", "the search has not been started");
  switch (command.type) {
    case "RecordValidation":
      return recordValidation(tried, search, command);
    case "RecordCheckpoint":
      return recordCheckpoint(tried, search, command);
    case "RecordOutcome":
      return recordOutcome(tried, search, command);
    case "RecordUsage":
      return recordUsage(tried, search, command);
    case "NoteTime":
      return noteTime(tried, search, command);
    case "OfferSuggestion":
    case "GoWithoutSuggestion": {
      const input = suggestionInput(search, command);
      return input === null ? [] : withFollowing(tried, input.event, input.observation);
    }
    case "PostOperations":
      return postOperations(tried, search, command);
    case "ContinueSearch":
      return continueSearch(tried, search, command);
    case "CancelSearch":
      return search.phase === "completed" ? [] : [completed(search, SearchCompletion.CANCELED)];
    default:
      return assertNever(command, "a search");
  }
}

function startSearch(tried: TriedSearch, { config, seed, atMs, earlier }: StartSearch): Decided {
  if (tried.state.plan !== null) return [];
  const { searcher, hyperparameters: space, early_stopping = [], resources } = config;
  const algorithm = newestAlgorithm(searcher.name);
  if (algorithm === undefined) {
    return reject("algorithm_unknown", `no search algorithm is called ${searcher.name}`);
  }
  const timeMetric = searcher.time_metric ?? "";
  const slotsPerTrial = resources?.slots_per_trial;
  const withEarlier = (taken?: EarlierTrials): EventOf<"SearchStarted"> => ({
    type: "SearchStarted",
    data: {
      algorithm: algorithm.name,
      algorithmVersion: algorithm.version,
      space,
      searcher,
      metric: searcher.metric,
      smallerIsBetter: searcher.smaller_is_better,
      timeMetric,
      seed,
      ...algorithm.sizeOf(searcher, space),
      ...(early_stopping.length === 0
        ? {}
        : {
            earlyStopping: { any: early_stopping },
            policiesVersion: POLICIES_VERSION,
          }),
      ...(slotsPerTrial === undefined ? {} : { slotsPerTrial }),
      ...(atMs === undefined ? {} : { atMs }),
      ...(taken === undefined ? {} : { earlier: taken }),
    },
  });
  const fits = (taken: EarlierTrials): boolean =>
    encodedBytes(withEarlier(taken)) <= limits.eventBodyBytesMax;
  const event = withEarlier(earlier && chosenEarlier(space, searcher, earlier, fits));
  return withFollowing(tried, event, { kind: "started" });
}

function recordValidation(
  tried: TriedSearch,
  search: RunningSearch,
  command: RecordValidation,
): Decided {
  const { metric, objectives, timeMetric } = search.plan;
  const { trial: number, run, step, measurement } = command;
  const trial = trialOf(search, number);
  if (trial === undefined) return unknownTrial(number);
  // A report after the end of its trial counts for the retention of checkpoints, not for the search.
  if (search.phase === "completed" || !isOpen(trial)) return [];
  if (isSuperseded(run, command.currentRun) || measurement === trial.measurement) return [];
  const time = timeOf(command, timeMetric);
  const repeat = wasObserved(trial, time);
  const byValues = decidesByValues(search);
  const missing = repeat ? null : missingIn(command, objectives, timeMetric, byValues);
  const value = missing === null ? command.scalars[metric] : undefined;
  const values: Record<string, number> = {};
  // Adding 0 turns -0 into 0, because JSON has no -0.
  if (value !== undefined) {
    for (const one of objectives) {
      values[one.metric] = (command.scalars[one.metric] ?? Number.NaN) + 0;
    }
  }
  if (timeMetric !== "" && Number.isFinite(time)) values[timeMetric] = time;
  // The fields are written one by one for speed, since this runs for every report of every trial.
  const data: Writable<EventData<"ObservationRecorded">> = {
    trial: number,
    run,
    time: finiteOr0(time),
    values,
    measurement,
    repeat,
  };
  if (command.atMs !== undefined) data.atMs = command.atMs;
  if (missing !== null) data.missing = missing;
  if (step !== data.time) data.step = step;
  const event: SearchEvent = { type: "ObservationRecorded", data };
  const failure =
    missing === null
      ? timeWentBack(trial, command, time, search.plan)
      : missingFailure(missing, search.plan, byValues);
  if (failure !== null && isRunning(trial)) return [event, failed(number, failure)];
  if (value === undefined || repeat || !isOpen(trial)) return [event];
  const observation = { kind: "validated", trial: number, time, value } as const;
  return withFollowing(tried, event, observation);
}

/** Whether a trial's values affect any decision, of the algorithm or of an early-stopping policy. */
function decidesByValues({ plan, policies }: RunningSearch): boolean {
  return policies !== null || algorithmOf(plan).ignoresValues !== true;
}

function finiteOr0(time: number): number {
  return Number.isFinite(time) ? time : 0;
}

function failed(trial: number, failure: Failure): SearchEvent {
  return { type: "TrialStopDecided", data: { trial, ...failure, fails: true } };
}

/** Records a checkpoint only if it is new and the algorithm can use it. */
function recordCheckpoint(
  tried: TriedSearch,
  search: RunningSearch,
  command: RecordCheckpoint,
): Decided {
  const { trial, checkpoint, run, step } = command;
  if (trialOf(search, trial) === undefined) return unknownTrial(trial);
  const takes = algorithmOf(search.plan).takesCheckpoint?.(search.memory, trial, step) ?? false;
  if (!takes || search.phase === "completed") return [];
  const event: SearchEvent = { type: "CheckpointObserved", data: { trial, checkpoint, run, step } };
  return withFollowing(tried, event, { kind: "checkpointed", trial });
}

function recordOutcome(
  tried: TriedSearch,
  search: RunningSearch,
  { trial: number, outcome: told, atMs }: RecordOutcome,
): Decided {
  const trial = trialOf(search, number);
  if (trial === undefined) return unknownTrial(number);
  if (!isKnownOutcome(told)) {
    return reject("outcome_unknown", `trial ${number} ended with an unknown outcome (${told})`);
  }
  if (search.phase === "completed" || !isOpen(trial)) return [];
  const outcome = outcomeOf(trial, told);
  const data = { trial: number, outcome, ...(atMs === undefined ? {} : { atMs }) };
  const event: SearchEvent = { type: "TrialOutcomeRecorded", data };
  return withFollowing(tried, event, { kind: "ended", trial: number, outcome });
}

/** A trial that the search has failed may complete before it receives the stop; it counts as failed. */
function outcomeOf({ wanted }: TrialState, told: TrialOutcome): TrialOutcome {
  return wanted === "failed" && told === TrialOutcome.COMPLETED ? TrialOutcome.FAILED : told;
}

function recordUsage(
  tried: TriedSearch,
  search: RunningSearch,
  { trial, run, started, atMs }: RecordUsage,
): Decided {
  if (trialOf(search, trial) === undefined) return unknownTrial(trial);
  if (search.phase === "completed" || !countsSlots(search)) return [];
  const event: SearchEvent = { type: "RunUsageRecorded", data: { trial, run, started, atMs } };
  return withFollowing(tried, event, null);
}

/** Records the time only if a decision follows from it. */
function noteTime(tried: TriedSearch, search: RunningSearch, { atMs }: NoteTime): Decided {
  if (search.phase === "completed") return [];
  const event: SearchEvent = { type: "SearchTimeNoted", data: { atMs } };
  const decided = withFollowing(tried, event, null);
  return decided.length === 1 ? [] : decided;
}

function continueSearch(
  tried: TriedSearch,
  search: RunningSearch,
  command: ContinueSearch,
): Decided {
  const { algorithm } = search.plan;
  if (!searcherFacts(algorithm).continues) {
    return reject("continue_unsupported", `a search by ${algorithm} cannot continue after its end`);
  }
  const data = continuation(search, command);
  if (data === null) return [];
  return withFollowing(tried, { type: "SearchContinued", data }, { kind: "continued" });
}

function unknownTrial(number: number): Rejection {
  return reject("trial_unknown", `the search has no trial ${number}`);
}

/**
 * Returns an input event and the events that follow: first the decisions of the early-stopping policies, then, after an
 * observation, those of the algorithm, and the completion if no trial runs and no decision is open.
 */
function withFollowing(
  tried: TriedSearch,
  input: SearchEvent,
  observation: Observation | null,
): readonly SearchEvent[] {
  tried.apply(input);
  const { state: search } = tried;
  assert(isStarted(search), "what follows from an input follows in a search");
  const failures = failureDecisions(search);
  const stops = eventsOf(
    search,
    failures.length > 0 ? failures : policyDecisions(search, observation),
  );
  for (const event of stops) tried.apply(event);
  const wanted =
    observation === null ? [] : eventsOf(search, decisionsOf(tried, search, observation));
  const events = [input, ...stops, ...wanted];
  const waits = awaitedTrial(search) !== null && !events.some(endsSearch);
  if (events.some(({ type }) => type === "TrialProposed") || waits || goesOn(search)) return events;
  // Decisions made with the completion are applied first, since they affect its reason.
  for (const event of wanted) tried.apply(event);
  return [...events, exhausted(search)];
}

/** Returns the algorithm's decisions; what it tries out is undone. */
function decisionsOf(
  tried: TriedSearch,
  search: RunningSearch,
  observation: Observation,
): readonly Decision[] {
  return tried.tryOut((undo) => algorithmOf(search.plan).on(search, observation, undo));
}

function endsSearch({ type }: SearchEvent): boolean {
  return type === "SearchStopDecided";
}
