import { decodeEvent, encodeEvent } from "@trainyard/contracts";
import { assert, fold } from "@trainyard/kernel";
import { searchDecider } from "../decider.ts";
import type { SearchEvent } from "../events.ts";
import { decodeSearch, encodeSearch } from "../snapshot.ts";
import type { SearchState } from "../state.ts";

export type FoldedInTwo = {
  /** The events as the log gives them back. */
  readonly stored: readonly SearchEvent[];
  /** How many of them the first half has. */
  readonly at: number;
  readonly half: SearchState;
  readonly whole: SearchState;
};

/** Events up to a cut, and what follows folded onto a snapshot of that: any number is a cut. */
export function foldedInTwo(events: readonly SearchEvent[], cut: number): FoldedInTwo {
  const stored = events.map((event) => decodeEvent(encodeEvent(event)) as SearchEvent);
  const at = cut % (stored.length + 1);
  const half = fold(searchDecider.evolve, searchDecider.initial, stored.slice(0, at));
  const restored = decodeSearch(encodeSearch(half));
  assert(restored !== null, "a snapshot can be read by what wrote it");
  return { stored, at, half, whole: fold(searchDecider.evolve, restored, stored.slice(at)) };
}
