/** Commands → the search's events. What an algorithm wants is asked of it with the observation folded in already. */
import type { EventData } from "@trainyard/contracts";
import { SearchCompletion, TrialOutcome } from "@trainyard/contracts/events";
import { assertNever, type Rejection, reject } from "@trainyard/kernel";
import type { Decision, Observation } from "./algorithm.ts";
import { newestAlgorithm, recordedAlgorithm } from "./algorithms/registry.ts";
import type { RecordOutcome, RecordValidation, SearchCommand, StartSearch } from "./commands.ts";
import type { SearchEvent } from "./events.ts";
import { evolve, isKnownOutcome, wasObserved } from "./evolve.ts";
import { trialSeed } from "./space.ts";
import {
  proposedTrials,
  type RunningSearch,
  type SearchState,
  type TrialState,
  trialOf,
} from "./state.ts";

type Decided = readonly SearchEvent[] | Rejection;

export function decide(state: SearchState, command: SearchCommand): Decided {
  if (command.type === "StartSearch") return startSearch(state, command);
  if (state.plan === null) return reject("search_unknown", "the search has not been started");
  const search = state as RunningSearch;
  switch (command.type) {
    case "RecordValidation":
      return recordValidation(search, command);
    case "RecordOutcome":
      return recordOutcome(search, command);
    case "CancelSearch":
      return search.phase === "completed" ? [] : [completed(search, SearchCompletion.CANCELED)];
    default:
      return assertNever(command, "a search");
  }
}

function startSearch(state: SearchState, { config, seed }: StartSearch): Decided {
  if (state.plan !== null) return [];
  const { searcher, hyperparameters: space } = config;
  const algorithm = newestAlgorithm(searcher.name);
  if (algorithm === undefined) {
    return reject("algorithm_unknown", `no search algorithm is called ${searcher.name}`);
  }
  const timeMetric = "time_metric" in searcher ? String(searcher.time_metric) : "";
  const event: SearchEvent = {
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
    },
  };
  return [event, ...following(evolve(state, event), { kind: "started" })];
}

function recordValidation(search: RunningSearch, command: RecordValidation): Decided {
  const { metric, timeMetric } = search.plan;
  const trial = trialOf(search, command.trial);
  if (trial === undefined) return unknownTrial(command.trial);
  if (search.phase === "completed") return [];
  if (command.run < command.currentRun || command.measurement === trial.measurement) return [];
  const time = 0 + timeOf(command, timeMetric);
  if (!Number.isFinite(time)) return withoutTime(search, trial, command);
  const value = command.scalars[metric];
  const values: Record<string, number> = {};
  // Adding 0 makes 0 of -0, which JSON does not keep apart.
  if (value !== undefined) values[metric] = value + 0;
  if (timeMetric !== "") values[timeMetric] = time;
  const repeat = wasObserved(trial, time);
  const { run, measurement } = command;
  const event: SearchEvent = {
    type: "ObservationRecorded",
    data: { trial: command.trial, run, time, values, measurement, repeat },
  };
  if (repeat || trial.outcome !== TrialOutcome.UNSPECIFIED) return [event];
  const observation = {
    kind: "validated",
    trial: command.trial,
    time,
    value: value ?? null,
  } as const;
  return [event, ...following(evolve(search, event), observation)];
}

/** Names of what was reported that a reason carries: enough to see a misspelt one. */
const NAMES_SHOWN = 16;

/** Without its time metric a trial can never come to a rung: it is stopped, with the names that were there. */
function withoutTime(search: RunningSearch, trial: TrialState, command: RecordValidation): Decided {
  if (trial.wanted === "stopped" || trial.outcome !== TrialOutcome.UNSPECIFIED) return [];
  const reported = Object.keys(command.scalars).sort().slice(0, NAMES_SHOWN);
  const evidence = { time_metric: search.plan.timeMetric, reported };
  const data = { trial: command.trial, rule: "time_metric_missing", evidence };
  return [{ type: "TrialStopDecided", data }];
}

/** Determined's training code counts batches without reporting them: they are the step. */
function timeOf({ step, scalars }: RecordValidation, timeMetric: string): number {
  if (timeMetric === "") return step;
  return scalars[timeMetric] ?? (timeMetric === "batches" ? step : Number.NaN);
}

function recordOutcome(search: RunningSearch, { trial: number, outcome }: RecordOutcome): Decided {
  const trial = trialOf(search, number);
  if (trial === undefined) return unknownTrial(number);
  if (!isKnownOutcome(outcome)) {
    return reject(
      "outcome_unknown",
      `trial ${number} ended in a way that has no name (${outcome})`,
    );
  }
  if (search.phase === "completed" || trial.outcome !== TrialOutcome.UNSPECIFIED) return [];
  const event: SearchEvent = { type: "TrialOutcomeRecorded", data: { trial: number, outcome } };
  return [event, ...following(evolve(search, event), { kind: "ended", trial: number, outcome })];
}

function unknownTrial(number: number): Rejection {
  return reject("trial_unknown", `the search has not proposed a trial ${number}`);
}

/** What the algorithm wants after an observation, and the completion where nothing runs and nothing more is wanted. */
function following(state: SearchState, observation: Observation): readonly SearchEvent[] {
  const search = state as RunningSearch;
  const { algorithm, algorithmVersion } = search.plan;
  const decisions = recordedAlgorithm(algorithm, algorithmVersion)?.on(search, observation) ?? [];
  let number = proposedTrials(search);
  const events = decisions.map((decision) => {
    if (decision.kind === "propose") number += 1;
    return eventOf(search, decision, number);
  });
  if (events.length > 0 || search.unended > 0) return events;
  return [completed(search, exhaustion(search))];
}

function eventOf(search: RunningSearch, decision: Decision, number: number): SearchEvent {
  switch (decision.kind) {
    case "propose": {
      const { hyperparameters, startFromTrial, origin, evidence } = decision;
      const data: EventData<"TrialProposed"> = {
        number,
        hyperparameters,
        seed: trialSeed(search.plan.seed, number),
        searchVersion: search.version,
        origin,
        ...(evidence === undefined ? {} : { evidence }),
        ...(startFromTrial === undefined ? {} : { startFromTrial }),
      };
      return { type: "TrialProposed", data };
    }
    case "stop": {
      const { trial, rule, evidence } = decision;
      return { type: "TrialStopDecided", data: { trial, rule, evidence } };
    }
    case "suspend": {
      const { trial, rung, rule, evidence } = decision;
      return { type: "TrialSuspended", data: { trial, rung, rule, evidence } };
    }
    case "resume": {
      const { trial, target, rung, rule, evidence } = decision;
      return { type: "TrialResumed", data: { trial, target, rung, rule, evidence } };
    }
    default:
      return assertNever(decision, "a decision");
  }
}

/** Every trial has ended: canceled one by one, or none of them was any good, or as it should be. */
function exhaustion({ outcomes }: RunningSearch): SearchCompletion {
  const { trained, canceled, failed, invalid } = outcomes;
  if (trained > 0) return SearchCompletion.EXHAUSTED;
  return canceled > 0 && failed + invalid === 0
    ? SearchCompletion.CANCELED
    : SearchCompletion.FAILED;
}

function completed({ best }: RunningSearch, reason: SearchCompletion): SearchEvent {
  const data =
    best === null ? { reason } : { reason, bestTrial: best.trial, bestValue: best.value };
  return { type: "SearchCompleted", data };
}
