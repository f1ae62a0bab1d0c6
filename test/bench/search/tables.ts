/**
 * Tables of real trainings: the final value of every configuration of a grid. They are read in place and never copied.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { HyperparameterSpace, JsonObject } from "@trainyard/experiment-config";
import { isRejection } from "@trainyard/kernel";
import { gridTable } from "@trainyard/search";
import type { Problem } from "./problems.ts";

type Parameter = {
  readonly name: string;
  readonly choices: readonly (string | number)[];
  readonly type: "str" | "int" | "float";
};

type Specs = Readonly<Record<string, { readonly params: readonly Parameter[] }>>;

/** Returns the folder of the tables and curves, or undefined if it does not exist. */
export function curvesFolder(): string | undefined {
  const beside = join(import.meta.dirname, "../../../../shared/data/curves");
  const folder = process.env["TRAINYARD_CURVES"] ?? beside;
  return existsSync(join(folder, "spec.json")) ? folder : undefined;
}

/** Returns the tables of the folder; values to maximise are negated. */
export function tables(folder: string): readonly Problem[] {
  const specs = JSON.parse(readFileSync(join(folder, "spec.json"), "utf8")) as Specs;
  return Object.keys(specs)
    .filter((name) => existsSync(join(folder, `${name}.f32`)))
    .map((name) => tableProblem(name, specs, readFileSync(join(folder, `${name}.f32`))));
}

function tableProblem(name: string, specs: Specs, bytes: Uint8Array): Problem {
  const table = gridTable(name, specs, bytes);
  if (isRejection(table)) throw new Error(`${name}: ${table.detail}`);
  const params = specs[name]?.params ?? [];
  const sign = table.smallerIsBetter ? 1 : -1;
  const valueOf = (row: number): number => sign * table.valueAt(row, 1);
  const rowOf = (point: JsonObject): number =>
    params.reduce((row, parameter) => row * parameter.choices.length + at(parameter, point), 0);
  return {
    name,
    space: Object.fromEntries(params.map((parameter) => [parameter.name, axisOf(parameter)])),
    valueAt: (point) => valueOf(rowOf(point)),
    minimum: table.rows.reduce((least, _, row) => Math.min(least, valueOf(row)), Infinity),
  };
}

/**
 * Ordered numbers become an int by their index, since neither searcher has lists of numbers; other choices are
 * unordered.
 */
function axisOf({ choices, type }: Parameter): HyperparameterSpace[string] {
  return type === "str"
    ? { type: "categorical", vals: [...choices] }
    : { type: "int", minval: 0, maxval: choices.length - 1, count: null };
}

function at({ name, choices, type }: Parameter, point: JsonObject): number {
  const value = point[name];
  return type === "str" ? choices.indexOf(value as string) : Number(value);
}
