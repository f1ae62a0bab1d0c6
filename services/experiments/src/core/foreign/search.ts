/**
 * The state that a search wants for each trial, folded from the search's stream. A search may propose a million trials,
 * so a change copies one chunk of the list only.
 */
import type { AnyEvent, EventData } from "@trainyard/contracts";
import { type SearchCompletion, TrialOutcome } from "@trainyard/contracts/events";
import { stopSentence } from "@trainyard/search/sentences";

/** The reason why the search ends a trial. `fails`: the trial fails instead of ending as stopped early. */
export type Stopped = { readonly stopped: string; readonly fails: boolean };

/** The state that the search wants for a trial; `over`: the search has recorded its outcome. */
export type SearchWant = "run" | "suspended" | Stopped | "over";

export type SearchState = {
  readonly chunks: readonly (readonly SearchWant[])[];
  readonly proposed: number;
  /** The number of proposed trials whose outcome the search has recorded. */
  readonly over: number;
  /** The reason why the search proposes no more trials before its limit; empty while it proposes trials. */
  readonly finished: string;
  /** Whether the search ends as failed for that reason. */
  readonly failing: boolean;
  /** The completion of the search; null since a later continuation. */
  readonly completed: SearchCompletion | null;
  /** The number of the latest continuation that the search has answered. */
  readonly continuation: number;
  /** The number of trials whose recorded outcome is failed or canceled. */
  readonly lost: number;
};

export const initialSearch: SearchState = {
  chunks: [],
  proposed: 0,
  over: 0,
  finished: "",
  failing: false,
  completed: null,
  continuation: 0,
  lost: 0,
};

const chunkSize = 512;
const lostBy: ReadonlySet<TrialOutcome> = new Set([TrialOutcome.FAILED, TrialOutcome.CANCELED]);

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
    case "TrialOutcomeRecorded": {
      const after = change(state, event.data.trial, "over");
      return lostBy.has(event.data.outcome) ? { ...after, lost: after.lost + 1 } : after;
    }
    case "SearchContinued":
      return continueWith(state, event.data);
    case "SearchCompleted":
      return { ...state, completed: event.data.reason };
    default:
      return state;
  }
}

function stopped({ rule, evidence, fails = false }: EventData<"TrialStopDecided">): Stopped {
  return { stopped: stopSentence(rule, evidence), fails };
}

/** Returns the reason for which the search ends the trial; null if the search does not end it. */
export function stopOf(want: SearchWant | null): Stopped | null {
  return want !== null && typeof want === "object" ? want : null;
}

/** Adds a proposed trial. Numbers rise by one from 1; a repeated number changes nothing. */
function propose(state: SearchState, number: number, want: SearchWant): SearchState {
  if (number !== state.proposed + 1) return state;
  const chunk = state.chunks[state.chunks.length - 1];
  const chunks =
    chunk === undefined || chunk.length === chunkSize
      ? [...state.chunks, [want]]
      : state.chunks.with(-1, [...chunk, want]);
  return { ...state, chunks, proposed: number };
}

/**
 * Changes the wanted state of a trial. An ended trial stays ended until the search continues, and a stop is never
 * withdrawn.
 */
function change(state: SearchState, number: number, want: SearchWant): SearchState {
  const before = searchWant(state, number);
  if (before === null || before === "over" || before === want) return state;
  if (stopOf(before) !== null && want !== "over") return state;
  return put(state, number, want);
}

function put(state: SearchState, number: number, want: SearchWant): SearchState {
  const at = Math.floor((number - 1) / chunkSize);
  const chunk = state.chunks[at] ?? [];
  const before = chunk[(number - 1) % chunkSize];
  const chunks = state.chunks.with(at, chunk.with((number - 1) % chunkSize, want));
  const over = state.over + Number(want === "over") - Number(before === "over");
  return { ...state, chunks, over };
}

/**
 * Continues the trials as the search does: open trials that are not continued are canceled if the search was complete.
 */
function continueWith(
  before: SearchState,
  { trials, continuation }: EventData<"SearchContinued">,
): SearchState {
  let state = before;
  const open = before.completed === null ? [] : trialsNotOver(before);
  for (const number of open) state = put(state, number, "over");
  for (const number of trials) state = put(state, number, "run");
  // A single search also continues a completed trial, so `lost` must not fall below 0.
  const lost = Math.max(0, before.lost + open.length - trials.length);
  return { ...state, lost, continuation, completed: null, finished: "", failing: false };
}

/** Returns the state that the search wants for a trial; null if it was never proposed. */
export function searchWant(state: SearchState, number: number): SearchWant | null {
  const index = number - 1;
  return state.chunks[Math.floor(index / chunkSize)]?.[index % chunkSize] ?? null;
}

/** Returns the trials without a recorded outcome, in order: from number `from` on, at most `limit`. */
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
