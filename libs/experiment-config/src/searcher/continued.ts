/** Applies the changes of a continuation to a configuration: the number of trials, and the length of their training. */
import { isMapping, type JsonObject, mappingAt, valueAt } from "../json.ts";

export type Continuation = {
  readonly maxTrials?: number | undefined;
  readonly maxLength?: number | undefined;
  /** One of batches, records, epochs; empty for a bare number. */
  readonly lengthUnit?: string | undefined;
};

/** Returns a recorded configuration with the changes; the length replaces the searcher's. */
export function continuedConfig(struct: unknown, change: Continuation): JsonObject {
  const config = isMapping(struct) ? struct : {};
  return { ...config, searcher: continuedSearcher(mappingAt(config, "searcher"), change) };
}

function continuedSearcher(
  searcher: JsonObject,
  { maxTrials, maxLength, lengthUnit = "" }: Continuation,
): JsonObject {
  const trials = maxTrials === undefined ? {} : { max_trials: maxTrials };
  if (maxLength === undefined) return { ...searcher, ...trials };
  const timed = valueAt(searcher, "max_time") !== undefined;
  const isCounted = valueAt(searcher, "max_length") !== undefined || !timed;
  const length = lengthUnit === "" ? maxLength : { [lengthUnit]: maxLength };
  return {
    ...searcher,
    ...trials,
    ...(timed ? { max_time: maxLength } : {}),
    ...(isCounted ? { max_length: length } : {}),
  };
}

/** Returns the training length of a trial and its unit; null if only the training code decides. */
export function recordedLength(
  struct: unknown,
): { readonly length: number; readonly unit: string } | null {
  const searcher = isMapping(struct) ? mappingAt(struct, "searcher") : {};
  const given = valueAt(searcher, "max_length") ?? valueAt(searcher, "max_time");
  const [unit, length] = isMapping(given) ? (Object.entries(given)[0] ?? []) : ["", given];
  return typeof length === "number" && unit !== undefined ? { length, unit } : null;
}
