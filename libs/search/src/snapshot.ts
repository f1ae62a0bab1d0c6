/** Snapshots of a search's fold: disposable, so one of another format is as good as none. */
import type { SearchState } from "./state.ts";

/** Raised with every change of SearchState, or of an algorithm's memory. */
const FORMAT = 13;

export function encodeSearch(state: SearchState): string {
  return JSON.stringify({ format: FORMAT, state });
}

/** The state; null when the text is of another format. */
export function decodeSearch(text: string): SearchState | null {
  const { format, state } = JSON.parse(text) as { format: number; state: SearchState };
  return format === FORMAT ? state : null;
}
