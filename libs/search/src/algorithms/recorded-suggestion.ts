import type { EventData } from "@trainyard/contracts";
import type { Origin, Suggestion } from "../algorithm.ts";

/** Returns the suggestion that an event records. */
export function suggestionIn(data: EventData<"SuggestionPrepared">): Suggestion {
  const { trial, hyperparameters = {}, searchVersion, results, evidence = {}, origin } = data;
  // The recorded origin is valid, because only suggestions of algorithms are recorded.
  return { trial, hyperparameters, searchVersion, results, evidence, origin: origin as Origin };
}
