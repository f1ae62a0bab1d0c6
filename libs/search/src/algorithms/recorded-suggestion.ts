import type { EventData } from "@trainyard/contracts";
import type { Origin, Suggestion } from "../algorithm.ts";

/** The suggestion that an event records. */
export function suggestionIn(data: EventData<"SuggestionPrepared">): Suggestion {
  const { trial, hyperparameters = {}, searchVersion, results, evidence = {}, origin } = data;
  // Only what an algorithm gave is recorded.
  return { trial, hyperparameters, searchVersion, results, evidence, origin: origin as Origin };
}
