/**
 * Before 0.38, Determined's halving searchers had the longest training as `max_length`, in batches, records or epochs,
 * and the platform passed a length to the training code. Such a length sets `max_time` and `time_metric` if these are
 * absent. Batches are the training step; records and epochs are metrics that the training code reports.
 */
import { isMapping, type JsonObject, valueAt } from "../json.ts";

const halving = ["adaptive_asha", "async_halving"];

export function withTimeFromLength(document: JsonObject): JsonObject {
  const searcher = valueAt(document, "searcher");
  const time = isMapping(searcher) ? timeFromLength(searcher) : null;
  return time === null || !isMapping(searcher)
    ? document
    : { ...document, searcher: { time_metric: time.unit, ...searcher, max_time: time.length } };
}

/** Converts a searcher's length into a time and its unit; null if it has none. */
export function timeFromLength(
  searcher: JsonObject,
): { readonly length: number; readonly unit: string } | null {
  const name = valueAt(searcher, "name");
  const length = valueAt(searcher, "max_length");
  if (typeof name !== "string" || !halving.includes(name)) return null;
  if (valueAt(searcher, "max_time") !== undefined) return null;
  const [unit, given] = isMapping(length)
    ? (Object.entries(length)[0] ?? [])
    : (["batches", length] as const);
  if (typeof given !== "number" || !Number.isInteger(given) || given < 1) return null;
  return unit === undefined ? null : { length: given, unit };
}
