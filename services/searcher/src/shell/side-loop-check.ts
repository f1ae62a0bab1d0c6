import { isDeepStrictEqual } from "node:util";
import type { EventLog } from "@trainyard/event-log";
import { type Check, type Logger, shownBeside } from "@trainyard/runtime";
import { SideLoopSearches, nothing, savedSearches } from "./side-loop-searches.ts";

/** Compares the saved list with a fold of the log from the beginning to the same position. */
export function sideLoopCheck(log: EventLog, logger: Logger): Check {
  return {
    name: "searcher.asking-searches",
    run: async () => {
      const saved = await savedSearches(log, logger);
      if (saved === null) return { position: await log.head(), finding: "" };
      const rebuilt = new SideLoopSearches(log, logger, nothing);
      await rebuilt.readTo(saved.position);
      const [is, becomes] = [saved.ids.toSorted(), rebuilt.ids.toSorted()];
      if (isDeepStrictEqual(is, becomes)) return { position: saved.position, finding: "" };
      const [one, other] = shownBeside(JSON.stringify(is), JSON.stringify(becomes));
      return { position: saved.position, finding: `it is ${one}, but a rebuild has ${other}` };
    },
  };
}
