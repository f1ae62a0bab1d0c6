/**
 * Points of a hyperparameter space, with the semantics of Determined 0.38 (`master/pkg/searcher`: hyperparameters.go,
 * grid.go). Random draws are Trainyard's: draw number `n` of the stream `hyperparameters/<path>` belongs to trial `n`.
 * A trial's point therefore depends only on the seed and the trial's number, not on other hyperparameters or trials.
 */
import {
  gridAxisLength,
  type HyperparameterSpace,
  type IntHyperparameter,
  isTyped,
  type Json,
  type JsonObject,
  type SpaceNode,
  stepsOf,
  type TypedHyperparameter,
  valueOfStep,
} from "@trainyard/experiment-config";
import { assertNever, draw, drawInteger } from "@trainyard/kernel";
import { exp, log, power, roundHalfAway } from "../numeric/math.ts";
import { withoutAbsent } from "./rules/conditions.ts";

/** Trial seeds are below this, because NumPy, PyTorch and Python all accept 0 ≤ seed < 2^31. */
const TRIAL_SEED_BELOW = 2 ** 31;

export function trialSeed(seed: number, trial: number): number {
  return drawInteger(seed, "trial-seed", trial, TRIAL_SEED_BELOW);
}

/** Returns the trial's point in random search. */
export function sampledPoint(space: HyperparameterSpace, seed: number, trial: number): JsonObject {
  return pointOf(space, (hyperparameter, path) =>
    valueAtShare(hyperparameter, draw(seed, path, trial)),
  );
}

/** Returns a hyperparameter's value: `path` names its stream of draws, and `keys` lead to it in a point. */
export type ValueOf = (
  hyperparameter: TypedHyperparameter,
  path: string,
  keys: readonly string[],
) => Json;

/** Returns a point with a value for each hyperparameter whose condition is true, in the order of sorted keys. */
export function pointOf(space: HyperparameterSpace, valueOf: ValueOf): JsonObject {
  return withoutAbsent(space, fullPoint(space, valueOf));
}

/** Returns a point with a value for each hyperparameter, whatever its condition. */
export function fullPoint(space: HyperparameterSpace, valueOf: ValueOf): JsonObject {
  return nestOf(space, "hyperparameters", [], valueOf);
}

function nestOf(
  space: HyperparameterSpace,
  path: string,
  keys: readonly string[],
  valueOf: ValueOf,
): JsonObject {
  const point: JsonObject = {};
  for (const { key, node, path: inner, keys: innerKeys } of placedNodes(space, path, keys)) {
    point[key] = isTyped(node)
      ? valueOf(node, inner, innerKeys)
      : nestOf(node, inner, innerKeys, valueOf);
  }
  return point;
}

/** A node of a nested mapping, with its path and keys in the whole space. */
type PlacedNode = {
  readonly key: string;
  readonly node: SpaceNode;
  readonly path: string;
  readonly keys: readonly string[];
};

function placedNodes(
  space: HyperparameterSpace,
  path: string,
  keys: readonly string[],
): readonly PlacedNode[] {
  return sortedNodes(space).map(([key, node]) => ({
    key,
    node,
    path: `${path}/${escaped(key)}`,
    keys: [...keys, key],
  }));
}

/** Escapes a path component as in a JSON Pointer, so that no two hyperparameters share a stream. */
function escaped(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

/**
 * Returns the value at quantile `u`, 0 ≤ u < 1, of a hyperparameter's range. Ints include both ends, and log is uniform
 * in the exponent.
 */
export function valueAtShare(hyperparameter: TypedHyperparameter, u: number): Json {
  switch (hyperparameter.type) {
    case "const":
      return hyperparameter.val;
    case "int":
    case "double": {
      const steps = stepsOf(hyperparameter);
      if (steps !== null) return valueOfStep(steps, Math.floor(u * steps.count));
      return hyperparameter.type === "int" ? logInt(hyperparameter, u) : between(hyperparameter, u);
    }
    case "log":
      return power(hyperparameter.base, between(hyperparameter, u));
    case "categorical":
      return hyperparameter.vals[Math.floor(u * hyperparameter.vals.length)] ?? null;
    default:
      return assertNever(hyperparameter, "a hyperparameter");
  }
}

/**
 * Returns an int at quantile `u`, uniform in the logarithm from half below the range to half above it, so that each
 * number has its share.
 */
function logInt({ minval, maxval }: IntHyperparameter, u: number): number {
  const [least, most] = logIntEnds({ minval, maxval });
  const value = roundHalfAway(exp(least + u * (most - least)));
  return Math.min(maxval, Math.max(minval, value));
}

/** The logarithms between which a logarithmic int is uniform. */
export function logIntEnds({
  minval,
  maxval,
}: Pick<IntHyperparameter, "minval" | "maxval">): readonly [least: number, most: number] {
  return [log(minval - 0.5), log(maxval + 0.5)];
}

function between({ minval, maxval }: { minval: number; maxval: number }, u: number): number {
  return Math.min(maxval, minval + u * (maxval - minval));
}

/**
 * Returns point number `index` of the grid, 0 ≤ index < gridSize(space). Axes are in the order of sorted keys, nested
 * ones in their place, and the last axis varies fastest.
 */
export function gridPoint(space: HyperparameterSpace, index: number): JsonObject {
  return gridNest(space, { rest: index });
}

/** Reads the index as a number of mixed base, the last digit first. */
function gridNest(space: HyperparameterSpace, cursor: { rest: number }): JsonObject {
  const backwards: [string, Json][] = [];
  for (const [key, node] of sortedNodes(space).reverse()) {
    if (!isTyped(node)) {
      backwards.push([key, gridNest(node, cursor)]);
      continue;
    }
    const length = gridAxisLength(node);
    backwards.push([key, axisValue(node, cursor.rest % length, length)]);
    cursor.rest = Math.floor(cursor.rest / length);
  }
  return Object.fromEntries(backwards.reverse());
}

/**
 * Returns value number `i` of an axis of `length` evenly spaced values with both ends; a single value is the middle.
 */
export function axisValue(hyperparameter: TypedHyperparameter, i: number, length: number): Json {
  switch (hyperparameter.type) {
    case "const":
      return hyperparameter.val;
    case "categorical":
      return hyperparameter.vals[i] ?? null;
    case "int":
    case "double": {
      const steps = stepsOf(hyperparameter);
      if (steps !== null && hyperparameter.step !== undefined) {
        const range = { minval: 0, maxval: steps.count - 1 };
        return valueOfStep(steps, Math.floor(spaced(range, i, length)));
      }
      const value = spaced(hyperparameter, i, length);
      return hyperparameter.type === "int" ? roundHalfAway(value) : value;
    }
    case "log":
      return power(hyperparameter.base, spaced(hyperparameter, i, length));
    default:
      return assertNever(hyperparameter, "a hyperparameter");
  }
}

function spaced(range: { minval: number; maxval: number }, i: number, length: number): number {
  const { minval, maxval } = range;
  if (length === 1) return minval + (maxval - minval) / 2;
  return i === length - 1 ? maxval : minval + (i * (maxval - minval)) / (length - 1);
}

/** Whether every trial gets the same point in this space. */
export function isConstant(space: HyperparameterSpace): boolean {
  return Object.values(space).every((node) =>
    isTyped(node)
      ? node.type === "const" || (node.type === "categorical" && node.vals.length === 1)
      : isConstant(node),
  );
}

/** Sorts keys by UTF-16 code units, because some stores of JSON lose the order of keys. */
export function sortedNodes(space: HyperparameterSpace): [string, SpaceNode][] {
  return Object.entries(space).sort(([a], [b]) => (a < b ? -1 : 1));
}
