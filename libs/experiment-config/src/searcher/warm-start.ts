/** The start of a search: points to try first, and the trials of earlier experiments. */
import {
  isMapping,
  type JsonObject,
  numbersAt,
  optionalNumber,
  sortedKeys,
  valueAt,
} from "../json.ts";

export type WarmStart = {
  /** Points that are tried first, in order. A point may omit hyperparameters, which are drawn as usual. */
  readonly points?: JsonObject[];
  /** Experiments from whose trials a model learns. */
  readonly experiments?: number[];
  /** The maximum number of trials taken from these experiments; half of them are the best. */
  readonly max_trials?: number;
};

export function readWarmStart(written: JsonObject): WarmStart {
  const points = valueAt(written, "points");
  return {
    ...(Array.isArray(points) ? { points: points.filter(isMapping).map(sortedKeys) } : {}),
    ...(valueAt(written, "experiments") === undefined
      ? {}
      : { experiments: numbersAt(written, "experiments") }),
    ...optionalNumber(written, "max_trials"),
  };
}
