/**
 * Points of a hyperparameter space. Semantics of Determined 0.38 (`master/pkg/searcher`: hyperparameters.go, grid.go),
 * with chance of our own: draw number `n` of the stream `hyperparameters/<path>` belongs to trial `n`, so that a
 * trial's point depends on the seed and its number alone, never on what other hyperparameters or trials there are.
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

/** A trial's own seed is one that NumPy, PyTorch and Python all take: 0 ≤ seed < 2^31. */
const TRIAL_SEED_BELOW = 2 ** 31;

export function trialSeed(seed: number, trial: number): number {
  return drawInteger(seed, "trial-seed", trial, TRIAL_SEED_BELOW);
}

/** The point that random search gives a trial. */
export function sampledPoint(space: HyperparameterSpace, seed: number, trial: number): JsonObject {
  return pointOf(space, (hyperparameter, path) =>
    valueAtShare(hyperparameter, draw(seed, path, trial)),
  );
}

/**
 * The source of a hyperparameter's value: `path` is the name of its stream of draws, `keys` is where it is in a point.
 */
export type ValueOf = (
  hyperparameter: TypedHyperparameter,
  path: string,
  keys: readonly string[],
) => Json;

/** A point made of a value for each hyperparameter that is there, in the order of sorted keys. */
export function pointOf(space: HyperparameterSpace, valueOf: ValueOf): JsonObject {
  return withoutAbsent(space, fullPoint(space, valueOf));
}

/** A point made of a value for each hyperparameter, whatever its condition. */
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

/** A node of a nest, with what its path in the whole space is. */
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

/** One path component as in a JSON Pointer, so that no two hyperparameters share a stream's name. */
function escaped(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** The value at `u`, 0 ≤ u < 1, of a hyperparameter's range. Ints include both ends, log is uniform in the exponent. */
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

/** Draws in the logarithm between half below the range and half above it, rounded: each whole number has its share. */
function logInt({ minval, maxval }: IntHyperparameter, u: number): number {
  const [least, most] = logIntEnds({ minval, maxval });
  const value = roundHalfAway(exp(least + u * (most - least)));
  return Math.min(maxval, Math.max(minval, value));
}

/** The logarithms between which an int is searched that is uniform in the logarithm. */
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
 * Point number `index` of the grid, 0 ≤ index < gridSize(space): axes in the order of sorted keys, nests in their
 * place, the last axis running fastest.
 */
export function gridPoint(space: HyperparameterSpace, index: number): JsonObject {
  return gridNest(space, { rest: index });
}

/** Reads the index as a number of mixed base, its last digit first. */
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

/** Value number `i` of an axis of `length` values, evenly spaced with both ends; a single one is the middle. */
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

/** A space in which every trial gets the same point. */
export function isConstant(space: HyperparameterSpace): boolean {
  return Object.values(space).every((node) =>
    isTyped(node)
      ? node.type === "const" || (node.type === "categorical" && node.vals.length === 1)
      : isConstant(node),
  );
}

/** Order does not survive every store of JSON, so it is made here, by UTF-16 code units. */
export function sortedNodes(space: HyperparameterSpace): [string, SpaceNode][] {
  return Object.entries(space).sort(([a], [b]) => (a < b ? -1 : 1));
}
