/** The streams that this service owns. */
import { type MachineFold, machineFold } from "@trainyard/runtime";
import { SearchMachine } from "@trainyard/search";

export const searches: MachineFold<SearchMachine> = machineFold({
  name: "search",
  category: "search",
  create: () => new SearchMachine(),
  snapshot: {
    // The format's own number is inside the text: a snapshot of another format is ignored, and the stream is folded
    // afresh.
    schema: "search",
    encode: (search) => search.snapshot(),
    decode: (text) => SearchMachine.restored(text),
  },
});
