/**
 * A space seen as a box: each hyperparameter that has a choice is an axis from 0 to 1. Log parameters are scaled in the
 * exponent; an int or a stepped double of k values, or a categorical of k, has k cells of equal length.
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

/** Cells beyond this many are treated as a continuum by models. */
const CELLS_MAX = 128;

/** Whether models see the axis as cells, and not as a continuum. */
export function isDiscrete({ hyperparameter, cells }: Axis): boolean {
  return cells > 0 && (cells <= CELLS_MAX || hyperparameter.type === "categorical");
}

/**
 * Where a point that the search proposed is: on a discrete axis the number of its cell, else the coordinate, 0 to 1.
 * A hyperparameter that is not there, for want of its condition, is in the middle, so that all points without it are
 * together; what is no value of the axis is at the start.
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

/** A value's text, whatever order a store of JSON gave its keys. */
export function canonical(value: Json): string {
  if (!isMapping(value)) {
    return Array.isArray(value) ? `[${value.map(canonical).join()}]` : JSON.stringify(value);
  }
  const fields = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key] ?? null)}`);
  return `{${fields.join()}}`;
}

/** The coordinates, 0 ≤ each < 1, of a place: the middle of the cell on a discrete axis. */
export function coordinatesOf(axes: readonly Axis[], place: readonly number[]): number[] {
  return axes.map((axis, index) => {
    const at = place[index] ?? 0;
    return isDiscrete(axis) ? (at + 0.5) / axis.cells : Math.min(at, LAST);
  });
}

/** The largest number below 1. */
const LAST = 1 - 2 ** -53;
