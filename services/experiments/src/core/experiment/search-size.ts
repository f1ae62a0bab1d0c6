import {
  type Continuation,
  recordedConfig,
  recordedLength,
} from "@trainyard/experiment-config/recorded";
import type { SearchSize } from "./state.ts";

/** Returns the size of a search from its recorded configuration. */
export function searchSize(config: unknown): SearchSize {
  const { searcher } = recordedConfig(config);
  const maxTrials = "max_trials" in searcher ? (searcher.max_trials ?? 0) : 0;
  return { algorithm: searcher.name, maxTrials, length: recordedLength(config) };
}

/** Returns the size of a search after a continuation. */
export function continuedSize(
  { algorithm, maxTrials, length }: SearchSize,
  change: Continuation,
): SearchSize {
  const unit = change.lengthUnit || length?.unit || "";
  return {
    algorithm,
    maxTrials: change.maxTrials ?? maxTrials,
    length: change.maxLength === undefined ? length : { length: change.maxLength, unit },
  };
}
