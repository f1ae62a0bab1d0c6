/**
 * Tables of real trainings: the final value of every configuration of a grid, float32 in the row-major order of the
 * parameters and then the replicates, described by `spec.json` beside them. Read where the folder is, copied never.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { HyperparameterSpace, JsonObject } from "@trainyard/experiment-config";
import type { Problem } from "./problems.ts";

type Parameter = {
  readonly name: string;
  readonly choices: readonly (string | number)[];
  readonly type: "str" | "int" | "float";
};

type TableSpec = {
  readonly direction: "minimize" | "maximize";
  readonly params: readonly Parameter[];
  readonly replicates: number;
};

/** The folder of the tables and curves, or undefined where it is not. */
export function curvesFolder(): string | undefined {
  const beside = join(import.meta.dirname, "../../../../shared/data/curves");
  const folder = process.env["TRAINYARD_CURVES"] ?? beside;
  return existsSync(join(folder, "spec.json")) ? folder : undefined;
}

/** The tables that are there; what is to be maximised is negated. A point's value is the mean over the replicates. */
export function tables(folder: string): readonly Problem[] {
  const specs = JSON.parse(readFileSync(join(folder, "spec.json"), "utf8")) as Record<
    string,
    TableSpec
  >;
  return Object.entries(specs)
    .filter(([name]) => existsSync(join(folder, `${name}.f32`)))
    .map(([name, spec]) => tableProblem(name, spec, readFileSync(join(folder, `${name}.f32`))));
}

function tableProblem(name: string, spec: TableSpec, bytes: Buffer): Problem {
  const { params, replicates, direction } = spec;
  const rows = params.reduce((product, { choices }) => product * choices.length, 1);
  const sign = direction === "minimize" ? 1 : -1;
  const means = Float64Array.from({ length: rows }, (_, row) => {
    let sum = 0;
    for (let i = 0; i < replicates; i += 1) sum += bytes.readFloatLE(4 * (row * replicates + i));
    return (sign * sum) / replicates;
  });
  const rowOf = (point: JsonObject): number =>
    params.reduce((row, parameter) => row * parameter.choices.length + at(parameter, point), 0);
  return {
    name,
    space: Object.fromEntries(params.map((parameter) => [parameter.name, axisOf(parameter)])),
    valueAt: (point) => means[rowOf(point)] ?? Number.NaN,
    minimum: means.reduce((least, value) => (value < least ? value : least), Infinity),
  };
}

/** Numbers in order are an int by their place, since neither searcher has a list of numbers; other choices have no order. */
function axisOf({ choices, type }: Parameter): HyperparameterSpace[string] {
  return type === "str"
    ? { type: "categorical", vals: [...choices] }
    : { type: "int", minval: 0, maxval: choices.length - 1, count: null };
}

function at({ name, choices, type }: Parameter, point: JsonObject): number {
  const value = point[name];
  return type === "str" ? choices.indexOf(value as string) : Number(value);
}
