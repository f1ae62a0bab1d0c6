/** The changes that a continuation makes to a configuration: how many trials, and how long one trains. */
import { isMapping, type JsonObject, mappingAt, valueAt } from "../json.ts";

export type Continuation = {
  readonly maxTrials?: number | undefined;
  readonly maxLength?: number | undefined;
  /** batches, records, epochs; empty for a number alone. */
  readonly lengthUnit?: string | undefined;
};

/** A recorded configuration with the changes; a length goes to where the searcher has one. */
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

/** How long a trial trains by the configuration, and the unit; null where the code alone decides. */
export function recordedLength(
  struct: unknown,
): { readonly length: number; readonly unit: string } | null {
  const searcher = isMapping(struct) ? mappingAt(struct, "searcher") : {};
  const given = valueAt(searcher, "max_length") ?? valueAt(searcher, "max_time");
  const [unit, length] = isMapping(given) ? (Object.entries(given)[0] ?? []) : ["", given];
  return typeof length === "number" && unit !== undefined ? { length, unit } : null;
}
