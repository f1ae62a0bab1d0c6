/**
 * The open searches that need a side loop: those with a suggestion model or a budget of time. Each entry is the
 * position of the event that has begun or continued the search.
 */
import { decodeEvent, shortNameOf } from "@trainyard/contracts";
import type { EventLog, StoredEvent } from "@trainyard/event-log";
import { idOf } from "@trainyard/kernel";
import { type Check, logFoldCheck, type LogFoldSpec, type Logger } from "@trainyard/runtime";
import { asksForSuggestions, hasBudgetOfTime } from "@trainyard/search";

export const sideLoopSearches: LogFoldSpec<number> = {
  stream: "search-asking",
  schema: "asking-searches/2",
  what: "the searches that ask",
  fold: (searches, stored) => {
    const [type, id] = [shortNameOf(stored.type), idOf(stored.stream)];
    if (type === "SearchCompleted") searches.delete(id);
    // A continued search may need a loop. Most do not; they are removed when they complete.
    if (type === "SearchContinued" || (type === "SearchStarted" && needsLoop(stored))) {
      searches.set(id, stored.position);
    }
  },
};

function needsLoop(stored: StoredEvent): boolean {
  const event = decodeEvent(stored);
  if (event.type !== "SearchStarted") return false;
  const { algorithm, algorithmVersion, earlyStopping } = event.data;
  return asksForSuggestions(algorithm, algorithmVersion) || hasBudgetOfTime(earlyStopping);
}

/** Compares the saved list with a rebuild. */
export function sideLoopCheck(log: EventLog, logger: Logger): Check {
  return logFoldCheck({ name: "searcher.asking-searches", fold: sideLoopSearches, log, logger });
}
