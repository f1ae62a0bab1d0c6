import type { EventData } from "@trainyard/contracts";
import { readSearcher, type SearcherConfig } from "@trainyard/experiment-config";

type Started = EventData<"SearchStarted">;

/** Reads a searcher section that an event records; a name or metric that it lacks is the search's. */
export function sectionOf(
  search: Pick<Started, "algorithm" | "metric" | "smallerIsBetter">,
  recorded: Started["searcher"],
): SearcherConfig {
  const { algorithm: name, metric, smallerIsBetter: smaller_is_better } = search;
  return readSearcher({ name, metric, smaller_is_better, ...recorded });
}
