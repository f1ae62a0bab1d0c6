/** The streams that the searcher owns. */
import { type MachineFold, machineFold } from "@trainyard/runtime";
import { SearchMachine } from "@trainyard/search";

export const searches: MachineFold<SearchMachine> = machineFold({
  name: "search",
  category: "search",
  create: () => new SearchMachine(),
  snapshot: {
    // The snapshot's text has a format number: a snapshot of another format is ignored, and the stream is folded again.
    schema: "search",
    encode: (search) => search.snapshot(),
    decode: (text) => SearchMachine.restored(text),
  },
});
