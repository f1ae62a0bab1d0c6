/** Whether a custom search waits for its client: none of its trials continues by itself. */
import type { AnyEvent } from "@trainyard/contracts";

export type SearchClient = {
  /** A custom search that still accepts operations. */
  readonly open: boolean;
  /** It takes no more trials. */
  readonly finishing: boolean;
  readonly unended: number;
  /** The unended trials that are suspended until the client says something. */
  readonly resting: readonly number[];
};

export const initialSearchClient: SearchClient = {
  open: false,
  finishing: false,
  unended: 0,
  resting: [],
};

/** Suspended for want of a place, as one that is proposed without one: it continues when another trial ends. */
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

/** The reason that the search waits, in words; empty while a trial continues. */
export function searchWaitsFor({ open, finishing, unended, resting }: SearchClient): string {
  if (!open || resting.length < unended || (finishing && unended === 0)) return "";
  const suspended = resting.length === 0 ? "" : `, ${resting.length} suspended`;
  return `operations of the search's client (no trial runs${suspended})`;
}
