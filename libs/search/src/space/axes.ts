/**
 * A space as a box: each hyperparameter with a choice is an axis from 0 to 1. Log parameters have a logarithmic axis.
 * An int or a stepped double with k values, or a categorical with k choices, has k cells of equal length.
 */
import {
  type HyperparameterSpace,
  type Json,
  type JsonObject,
  nearestStep,
  stepsOf,
  type TypedHyperparameter,
} from "@trainyard/experiment-config";
import { derivedFrom } from "../derived.ts";
import { isMapping } from "@trainyard/kernel";
import { log } from "../numeric/math.ts";
import type { SearchedSpace } from "../state.ts";
import { logIntEnds, pointOf, valueAtShare } from "./space.ts";

export type Axis = {
  /** The keys that lead to the value in a point. */
  readonly keys: readonly string[];
  /** The name of the hyperparameter's stream of draws. */
  readonly path: string;
  readonly hyperparameter: TypedHyperparameter;
  /** The number of different values; 0 for a continuous axis. */
  readonly cells: number;
};

/** Returns the axes in the order of sorted keys; a hyperparameter with a single value is no axis. */
export function axesOf(space: HyperparameterSpace): readonly Axis[] {
  const axes: Axis[] = [];
  pointOf(space, (hyperparameter, path, keys) => {
    const cells = cellsOf(hyperparameter);
    if (cells !== 1) axes.push({ keys, path, hyperparameter, cells });
    return null;
  });
  return axes;
}

/** The axes of a plan's space. */
export function axesOfPlan(plan: SearchedSpace): readonly Axis[] {
  return derivedFrom(plan, axesOfSearched);
}

function axesOfSearched({ space }: SearchedSpace): readonly Axis[] {
  return axesOf(space);
}

function cellsOf(hyperparameter: TypedHyperparameter): number {
  switch (hyperparameter.type) {
    case "const":
      return 1;
    case "categorical":
      return hyperparameter.vals.length;
    case "int":
    case "double":
      return stepsOf(hyperparameter)?.count ?? 0;
    default:
      return 0;
  }
}

/** Returns the point at coordinates, 0 ≤ each < 1, one per axis in order. */
export function pointAt(space: HyperparameterSpace, coordinates: readonly number[]): JsonObject {
  let axis = 0;
  return pointOf(space, (hyperparameter) => {
    if (cellsOf(hyperparameter) === 1) return valueAtShare(hyperparameter, 0);
    const coordinate = coordinates[axis] ?? 0;
    axis += 1;
    return valueAtShare(hyperparameter, coordinate);
  });
}

/** An axis with more cells than this counts as continuous for models. */
const CELLS_MAX = 128;

/** Whether the axis is divided into cells for models. */
export function isDiscrete({ hyperparameter, cells }: Axis): boolean {
  return cells > 0 && (cells <= CELLS_MAX || hyperparameter.type === "categorical");
}

/**
 * Returns the place of a proposed point: the cell number on a discrete axis, otherwise a coordinate from 0 to 1. A
 * hyperparameter whose condition is false is in the middle, so that all points without it are together. A value outside
 * the axis is at its start.
 */
export function placeOf(axes: readonly Axis[], point: JsonObject): number[] {
  return axes.map((axis) => {
    let value: Json | undefined = point;
    for (const key of axis.keys) value = isMapping(value) ? value[key] : undefined;
    return value === undefined ? middleOf(axis) : placeOnAxis(axis, value);
  });
}

function middleOf(axis: Axis): number {
  return isDiscrete(axis) ? Math.floor(axis.cells / 2) : 0.5;
}

function placeOnAxis(axis: Axis, value: Json): number {
  const { hyperparameter, cells } = axis;
  if (hyperparameter.type === "categorical") {
    const text = canonical(value);
    return Math.max(
      0,
      hyperparameter.vals.findIndex((choice) => canonical(choice) === text),
    );
  }
  if (hyperparameter.type === "const" || typeof value !== "number") return 0;
  const { minval, maxval } = hyperparameter;
  const steps = hyperparameter.type === "log" ? null : stepsOf(hyperparameter);
  if (steps !== null) {
    const cell = nearestStep(steps, value);
    return isDiscrete(axis) ? cell : (cell + 0.5) / cells;
  }
  if (hyperparameter.type === "int") {
    const [least, most] = logIntEnds(hyperparameter);
    return Math.min(1, Math.max(0, (log(Math.max(minval, value)) - least) / (most - least)));
  }
  const scaled = hyperparameter.type === "log" ? log(value) / log(hyperparameter.base) : value;
  return Math.min(1, Math.max(0, (scaled - minval) / (maxval - minval)));
}

/** Returns a JSON text of the value that does not depend on the order of keys. */
export function canonical(value: Json): string {
  if (!isMapping(value)) {
    return Array.isArray(value) ? `[${value.map(canonical).join()}]` : JSON.stringify(value);
  }
  const fields = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key] ?? null)}`);
  return `{${fields.join()}}`;
}

/** Returns the coordinates, 0 ≤ each < 1, of a place: on a discrete axis, the middle of the cell. */
export function coordinatesOf(axes: readonly Axis[], place: readonly number[]): number[] {
  return axes.map((axis, index) => {
    const at = place[index] ?? 0;
    return isDiscrete(axis) ? (at + 0.5) / axis.cells : Math.min(at, LAST);
  });
}

/** The largest number below 1. */
const LAST = 1 - 2 ** -53;
