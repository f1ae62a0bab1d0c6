/** The problems for searches: a space, a value for each of its points, and the minimum. */
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
  /** Returns the value of a point; smaller is better. */
  readonly valueAt: (point: JsonObject) => number;
  readonly minimum: number;
};

/** Returns the problem with this name, which other processes use to refer to it. */
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
