/**
 * A space seen as a box: each hyperparameter that has a choice is an axis from 0 to 1. Log parameters are scaled in the
 * exponent; an int of k values, or a categorical of k, has k cells of equal length.
 */
import type {
  HyperparameterSpace,
  JsonObject,
  TypedHyperparameter,
} from "@trainyard/experiment-config";
import { pointOf, valueAtShare } from "./space.ts";

export type Axis = {
  /** Where the value is in a point. */
  readonly keys: readonly string[];
  /** The name of the hyperparameter's stream of draws. */
  readonly path: string;
  readonly hyperparameter: TypedHyperparameter;
  /** Values that differ; 0 for a continuum. */
  readonly cells: number;
};

/** The axes in the order of sorted keys; a hyperparameter with one value only is none. */
export function axesOf(space: HyperparameterSpace): readonly Axis[] {
  const axes: Axis[] = [];
  pointOf(space, (hyperparameter, path, keys) => {
    const cells = cellsOf(hyperparameter);
    if (cells !== 1) axes.push({ keys, path, hyperparameter, cells });
    return null;
  });
  return axes;
}

function cellsOf(hyperparameter: TypedHyperparameter): number {
  switch (hyperparameter.type) {
    case "const":
      return 1;
    case "categorical":
      return hyperparameter.vals.length;
    case "int":
      return hyperparameter.maxval - hyperparameter.minval + 1;
    default:
      return 0;
  }
}

/** The point at coordinates, 0 ≤ each < 1, one for each axis in order. */
export function pointAt(space: HyperparameterSpace, coordinates: readonly number[]): JsonObject {
  let axis = 0;
  return pointOf(space, (hyperparameter) => {
    if (cellsOf(hyperparameter) === 1) return valueAtShare(hyperparameter, 0);
    const coordinate = coordinates[axis] ?? 0;
    axis += 1;
    return valueAtShare(hyperparameter, coordinate);
  });
}
