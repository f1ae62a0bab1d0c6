/**
 * Suggestions that a model computes beside the log. A search whose algorithm has a model (`algorithm.ts`) has at most
 * one question at a time, which depends only on its state. The answer depends only on the question and returns as an
 * input. After a crash the same question is therefore asked again, and a recorded suggestion can be recomputed.
 */
import { assert } from "@trainyard/kernel";
import type { Model, Observation, Question } from "./algorithm.ts";
import { algorithmOf, recordedAlgorithm } from "./algorithms/registry.ts";
import type { GoWithoutSuggestion, OfferSuggestion } from "./commands.ts";
import { Derived } from "./derived.ts";
import type { SearchEvent } from "./events.ts";
import {
  isStarted,
  proposedTrials,
  type RunningSearch,
  type SearchPlan,
  type SearchState,
} from "./state.ts";

function modelOf(plan: SearchPlan): Model | undefined {
  return algorithmOf(plan).model;
}

/** Whether searches with this algorithm ask a model for suggestions. */
export function asksForSuggestions(algorithm: string, version: number): boolean {
  return recordedAlgorithm(algorithm, version)?.model !== undefined;
}

/** Returns the search if it may propose further trials; otherwise null. */
function proposing(state: SearchState): RunningSearch | null {
  const isOver = state.phase === "completed" || state.finishing;
  return isStarted(state) && !isOver ? state : null;
}

/** The current question for the search's model; null for none. */
export function questionOf(state: SearchState): Question | null {
  const search = proposing(state);
  return search === null ? null : (modelOf(search.plan)?.question(search) ?? null);
}

/**
 * Computes the model's answer, which takes some tens of milliseconds and is the same for the same question on every
 * machine.
 */
export function answerTo(question: Question): OfferSuggestion {
  // A question from another thread lacks the derived values of its plan.
  const plan = { ...question.plan, derived: new Derived() };
  const model = modelOf(plan);
  assert(model !== undefined, `${plan.algorithm} has a model`);
  return { type: "OfferSuggestion", ...model.answer({ ...question, plan }) };
}

/** The trial whose suggestion a free place waits for; null for none. */
export function awaitedTrial(state: SearchState): number | null {
  const search = proposing(state);
  if (search === null || !modelOf(search.plan)?.waits(search)) return null;
  return proposedTrials(search) + 1;
}

/** Computes the model's suggestion for the next trial; null if the search has no question. */
export function suggestionOf(state: SearchState): OfferSuggestion | null {
  const question = questionOf(state);
  return question === null ? null : answerTo(question);
}

type SuggestionInput = { readonly event: SearchEvent; readonly observation: Observation };

/** Returns the event and observation of a model's command; null for a late command. */
export function suggestionInput(
  search: RunningSearch,
  command: OfferSuggestion | GoWithoutSuggestion,
): SuggestionInput | null {
  const { trial } = command;
  const model = modelOf(search.plan);
  if (model === undefined || proposing(search) === null) return null;
  if (trial !== proposedTrials(search) + 1) return null;
  if (command.type === "GoWithoutSuggestion") {
    if (!model.waits(search)) return null;
    const { waitedMs } = command;
    const event: SearchEvent = { type: "SuggestionMissed", data: { trial, waitedMs } };
    return { event, observation: { kind: "unsuggested", trial, waitedMs } };
  }
  if (!model.takes(search, command)) return null;
  const { type: _type, ...data } = command;
  return { event: { type: "SuggestionPrepared", data }, observation: { kind: "suggested", trial } };
}
