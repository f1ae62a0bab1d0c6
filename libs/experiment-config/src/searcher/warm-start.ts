/** The start of a search besides its space: points to try first, and the trials of earlier experiments. */
import {
  isMapping,
  type JsonObject,
  numbersAt,
  optionalNumber,
  sortedKeys,
  valueAt,
} from "../json.ts";

export type WarmStart = {
  /** Tried first, in their order. A point may leave hyperparameters out, which are drawn as for any trial. */
  readonly points?: JsonObject[];
  /** Experiments whose trials a model learns from. */
  readonly experiments?: number[];
  /** The maximum of trials that are taken from them; half of them are the best. */
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
