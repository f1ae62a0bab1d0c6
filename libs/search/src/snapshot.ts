/** Snapshots of a search's state. They can be dropped at any time, so one of another format is ignored. */
import { Derived } from "./derived.ts";
import type { SearchState } from "./state.ts";

/** The format is raised with every change of SearchState or of an algorithm's memory. */
const FORMAT = 1;

export function encodeSearch(state: SearchState): string {
  return JSON.stringify({ format: FORMAT, state });
}

/** Returns the state; null if the text has another format. */
export function decodeSearch(text: string): SearchState | null {
  const { format, state } = JSON.parse(text) as { format: number; state: SearchState };
  if (format !== FORMAT) return null;
  const { plan } = state;
  return { ...state, plan: plan === null ? null : { ...plan, derived: new Derived() } };
}
