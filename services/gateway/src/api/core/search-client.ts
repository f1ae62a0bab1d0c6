/** Decides whether a custom search waits for its client, because none of its trials continues without it. */
import type { AnyEvent } from "@trainyard/contracts";

export type SearchClient = {
  /** Whether the search is a custom one and accepts operations. */
  readonly open: boolean;
  /** Whether the search proposes no more trials. */
  readonly finishing: boolean;
  readonly unended: number;
  /** The unended trials that stay suspended until the client resumes or stops them. */
  readonly resting: readonly number[];
};

export const initialSearchClient: SearchClient = {
  open: false,
  finishing: false,
  unended: 0,
  resting: [],
};

/** The rule of a suspension for lack of a place. The trial continues by itself when another trial ends. */
const waitsForPlace = "no_place";

export function evolveSearchClient(state: SearchClient, event: AnyEvent): SearchClient {
  if (event.type === "SearchStarted") return { ...state, open: event.data.algorithm === "custom" };
  if (!state.open) return state;
  switch (event.type) {
    case "TrialProposed":
      return { ...state, unended: state.unended + 1 };
    case "TrialSuspended": {
      const { trial, rule } = event.data;
      const others = without(state.resting, trial);
      return { ...state, resting: rule === waitsForPlace ? others : [...others, trial] };
    }
    case "TrialResumed":
    case "TrialStopDecided":
      return { ...state, resting: without(state.resting, event.data.trial) };
    case "TrialOutcomeRecorded": {
      const resting = without(state.resting, event.data.trial);
      return { ...state, unended: state.unended - 1, resting };
    }
    case "SearchStopDecided":
      return { ...state, finishing: true };
    case "SearchCompleted":
      return { ...state, open: false };
    default:
      return state;
  }
}

function without(trials: readonly number[], trial: number): readonly number[] {
  return trials.includes(trial) ? trials.filter((one) => one !== trial) : trials;
}

/** Returns why the search waits, as a phrase; empty while a trial continues. */
export function searchWaitsFor({ open, finishing, unended, resting }: SearchClient): string {
  if (!open || resting.length < unended || (finishing && unended === 0)) return "";
  const suspended = resting.length === 0 ? "" : `, ${resting.length} suspended`;
  return `operations of the search's client (no trial runs${suspended})`;
}
