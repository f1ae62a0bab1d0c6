/** The streams that this service owns. */
import type { Aggregate } from "@trainyard/runtime";
import {
  decodeSearch,
  encodeSearch,
  type SearchCommand,
  type SearchEvent,
  type SearchState,
  searchDecider,
} from "@trainyard/search";

export const searches: Aggregate<SearchState, SearchCommand, SearchEvent> = {
  name: "search",
  category: "search",
  decider: searchDecider,
  // The format's own number is inside the text: what cannot be used is folded afresh.
  snapshot: { schema: "search", encode: encodeSearch, decode: decodeSearch },
};
