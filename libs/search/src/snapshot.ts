/** Snapshots of a search's state: disposable, so one of another format is as good as none. */
import { Derived } from "./derived.ts";
import type { SearchState } from "./state.ts";

/** Raised with every change of SearchState, or of an algorithm's memory. */
const FORMAT = 14;

export function encodeSearch(state: SearchState): string {
  return JSON.stringify({ format: FORMAT, state });
}

/** The state; null when the text is of another format. */
export function decodeSearch(text: string): SearchState | null {
  const { format, state } = JSON.parse(text) as { format: number; state: SearchState };
  if (format !== FORMAT) return null;
  const { plan } = state;
  return { ...state, plan: plan === null ? null : { ...plan, derived: new Derived() } };
}
