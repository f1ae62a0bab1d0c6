/**
 * A search as a decider over the stream `search-<experiment>`: unknown → running → completed. Nothing leaves completed.
 * Every decision costs O(log n) in the number of trials, except that an invalid best trial makes the others be looked
 * through once.
 */
import type { Decider } from "@trainyard/kernel";
import type { SearchCommand } from "./commands.ts";
import { decide } from "./decide.ts";
import type { SearchEvent } from "./events.ts";
import { evolve } from "./evolve.ts";
import { initialSearch, type SearchState } from "./state.ts";

export const searchDecider: Decider<SearchState, SearchCommand, SearchEvent> = {
  initial: initialSearch,
  decide,
  evolve,
};
