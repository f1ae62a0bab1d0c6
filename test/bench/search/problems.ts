/** The problems of searches: a space, a value for each of its points, and the best there is. */
import type { HyperparameterSpace, JsonObject } from "@trainyard/experiment-config";
import {
  ackley5,
  branin,
  hartmann6,
  rosenbrock4,
  type TestFunction,
} from "@trainyard/search/testing";
import { curvesFolder, tables } from "./tables.ts";

export type Problem = {
  readonly name: string;
  readonly space: HyperparameterSpace;
  /** Smaller is better. */
  readonly valueAt: (point: JsonObject) => number;
  readonly minimum: number;
};

/** The problem of that name: another process looks it up by its name. */
export function problemOf(name: string): Problem {
  const folder = curvesFolder();
  const known = [...functions, ...(folder === undefined ? [] : tables(folder))];
  const problem = known.find((one) => one.name === name);
  if (problem === undefined) throw new Error(`there is no problem called ${name}`);
  return problem;
}

export const functions: readonly Problem[] = [branin, hartmann6, ackley5, rosenbrock4].map(
  ({ name, space, valueAt, minimum }: TestFunction) => ({ name, space, valueAt, minimum }),
);
