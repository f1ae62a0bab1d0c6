/**
 * What the search wants of each trial, folded from its own stream. A search may propose a million trials, so a change
 * copies one chunk of the list, never all of it.
 */
import type { AnyEvent, EventData } from "@trainyard/contracts";
import type { SearchCompletion } from "@trainyard/contracts/events";
import { stopSentence } from "@trainyard/search/sentences";

/** Why the search ends a trial, in words; `fails`: not as stopped early, but as failed. */
export type Stopped = { readonly stopped: string; readonly fails: boolean };

/** over: the search has recorded the trial's outcome. */
export type SearchWant = "run" | "suspended" | Stopped | "over";

export type SearchState = {
  readonly chunks: readonly (readonly SearchWant[])[];
  readonly proposed: number;
  /** Of these, the trials whose outcome the search has recorded. */
  readonly over: number;
  /** Why the search proposes no more although it could, in words; empty while it does. */
  readonly finished: string;
  /** It ends as failed for that reason. */
  readonly failing: boolean;
  readonly completed: SearchCompletion | null;
};

export const initialSearch: SearchState = {
  chunks: [],
  proposed: 0,
  over: 0,
  finished: "",
  failing: false,
  completed: null,
};

const chunkSize = 512;

export function evolveSearch(state: SearchState, event: AnyEvent): SearchState {
  switch (event.type) {
    case "TrialProposed":
      return propose(state, event.data.number, event.data.waits === true ? "suspended" : "run");
    case "TrialSuspended":
      return change(state, event.data.trial, "suspended");
    case "TrialResumed":
      return change(state, event.data.trial, "run");
    case "TrialStopDecided":
      return change(state, event.data.trial, stopped(event.data));
    case "SearchStopDecided":
      return {
        ...state,
        finished: stopSentence(event.data.rule, event.data.evidence),
        failing: event.data.fails ?? false,
      };
    case "TrialOutcomeRecorded":
      return change(state, event.data.trial, "over");
    case "SearchCompleted":
      return { ...state, completed: event.data.reason };
    default:
      return state;
  }
}

function stopped({ rule, evidence, fails = false }: EventData<"TrialStopDecided">): Stopped {
  return { stopped: stopSentence(rule, evidence), fails };
}

/** What the search wants no more; null otherwise. */
export function stopOf(want: SearchWant | null): Stopped | null {
  return want !== null && typeof want === "object" ? want : null;
}

/** Numbers rise by one from 1; a number that was proposed before changes nothing. */
function propose(state: SearchState, number: number, want: SearchWant): SearchState {
  if (number !== state.proposed + 1) return state;
  const chunk = state.chunks[state.chunks.length - 1];
  const chunks =
    chunk === undefined || chunk.length === chunkSize
      ? [...state.chunks, [want]]
      : state.chunks.with(-1, [...chunk, want]);
  return { ...state, chunks, proposed: number };
}

/** What is over stays over, and a stop is never withdrawn. */
function change(state: SearchState, number: number, want: SearchWant): SearchState {
  const before = searchWant(state, number);
  if (before === null || before === "over" || before === want) return state;
  if (stopOf(before) !== null && want !== "over") return state;
  const at = Math.floor((number - 1) / chunkSize);
  const chunk = state.chunks[at] ?? [];
  const chunks = state.chunks.with(at, chunk.with((number - 1) % chunkSize, want));
  return { ...state, chunks, over: want === "over" ? state.over + 1 : state.over };
}

/** Null for a trial that was never proposed. */
export function searchWant(state: SearchState, number: number): SearchWant | null {
  const index = number - 1;
  return state.chunks[Math.floor(index / chunkSize)]?.[index % chunkSize] ?? null;
}

/** The numbers of the trials whose outcome the search has not recorded, in order: from one on, and so many at most. */
export function trialsNotOver(
  state: SearchState,
  from = 1,
  most: number = Number.POSITIVE_INFINITY,
): readonly number[] {
  const numbers: number[] = [];
  for (let number = from; number <= state.proposed && numbers.length < most; number += 1) {
    if (searchWant(state, number) !== "over") numbers.push(number);
  }
  return numbers;
}
