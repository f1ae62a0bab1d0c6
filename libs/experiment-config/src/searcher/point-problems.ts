/** Checks that given points belong to the search space. */
import type { FieldProblem } from "@trainyard/kernel";
import { isSameValue } from "../hyperparameters/conditions.ts";
import type {
  DoubleHyperparameter,
  HyperparameterSpace,
  IntHyperparameter,
  TypedHyperparameter,
} from "../hyperparameters/hyperparameters.ts";
import {
  describeValue,
  isMapping,
  itemPath,
  type Json,
  type JsonObject,
  keyPath,
} from "../json.ts";
import { isTyped } from "../hyperparameters/space.ts";
import { isOnStep, nearestStep, stepsOf, valueOfStep } from "../hyperparameters/steps.ts";
import { closest } from "../suggest.ts";

/** Returns the values of given points that are not in the space. */
export function pointProblems(
  points: readonly JsonObject[],
  space: HyperparameterSpace,
): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const [index, point] of points.entries()) {
    checkNest(point, space, itemPath("searcher.warm_start.points", index), problems);
  }
  return problems;
}

function checkNest(
  point: JsonObject,
  space: HyperparameterSpace,
  path: string,
  problems: FieldProblem[],
): void {
  for (const [key, value] of Object.entries(point)) {
    const at = keyPath(path, key);
    const node = Object.hasOwn(space, key) ? space[key] : undefined;
    if (node === undefined) {
      const meant = closest(key, Object.keys(space));
      const instead = meant === null ? "" : `; "${meant}" is`;
      problems.push({ path: at, detail: `is not a hyperparameter${instead}` });
    } else if (isTyped(node)) {
      const problem = whyNoValue(node, value);
      if (problem !== null) problems.push({ path: at, detail: problem });
    } else if (isMapping(value)) {
      checkNest(value, node, at, problems);
    } else {
      problems.push({ path: at, detail: `must be a mapping, not ${describeValue(value)}` });
    }
  }
}

/** Absorbs the rounding error of a log hyperparameter's bounds. */
const TOLERANCE = 1e-9;

/** Returns why a value is not one of the hyperparameter's; null if it is. */
export function whyNoValue(hyperparameter: TypedHyperparameter, value: Json): string | null {
  switch (hyperparameter.type) {
    case "const":
      return isSameValue(hyperparameter.val, value)
        ? null
        : `must be ${describeValue(hyperparameter.val)}, the constant, not ${describeValue(value)}`;
    case "categorical":
      return hyperparameter.vals.some((choice) => isSameValue(choice, value))
        ? null
        : `is ${describeValue(value)}, which is not one of its values`;
    case "int":
    case "double":
      if (hyperparameter.type === "int" && !Number.isInteger(value)) {
        return `must be a whole number, not ${describeValue(value)}`;
      }
      return (
        outside(value, hyperparameter.minval, hyperparameter.maxval) ??
        betweenSteps(hyperparameter, Number(value))
      );
    case "log": {
      const { base, minval, maxval } = hyperparameter;
      const ends = [base ** minval, base ** maxval].sort((a, b) => a - b);
      const [least = 0, most = 0] = ends;
      return outside(value, least * (1 - TOLERANCE), most * (1 + TOLERANCE), [least, most]);
    }
  }
}

function betweenSteps(
  hyperparameter: IntHyperparameter | DoubleHyperparameter,
  value: number,
): string | null {
  const steps = stepsOf(hyperparameter);
  if (steps === null || isOnStep(steps, value)) return null;
  const nearest = valueOfStep(steps, nearestStep(steps, value));
  return `is ${value}, which is between two steps: ${nearest} is a value`;
}

function outside(
  value: Json,
  least: number,
  most: number,
  [from, to]: readonly [number, number] = [least, most],
): string | null {
  if (typeof value !== "number") return `must be a number, not ${describeValue(value)}`;
  return value >= least && value <= most ? null : `must be between ${from} and ${to}, not ${value}`;
}
