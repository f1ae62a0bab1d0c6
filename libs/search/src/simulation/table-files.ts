/** Reads the two published file formats of training tables. An error is one sentence that continues the file's name. */
import type { Json, JsonObject } from "@trainyard/experiment-config";
import { Derived } from "../derived.ts";
import { isMapping, reject, type Rejection } from "@trainyard/kernel";
import { type Column, spaceOfColumns, type Table } from "./table.ts";

const wrong = (detail: string): Rejection => reject("table_invalid", detail);

function isListOfLists(value: unknown): value is readonly (readonly Json[])[] {
  return Array.isArray(value) && value.every((item) => Array.isArray(item));
}

/**
 * Reads learning curves: `hp_names`, `hp[configuration]`, and `valid[configuration][step]`, a loss. A value that is not
 * finite is null.
 */
export function curveTable(name: string, file: unknown): Table | Rejection {
  if (!isMapping(file)) return wrong("holds no JSON object with hp_names, hp and valid");
  const { hp_names: names, hp, valid } = file;
  if (!Array.isArray(names) || !names.every((key) => typeof key === "string") || !names.length) {
    return wrong("has no hp_names: a list of the hyperparameters' names");
  }
  if (!isListOfLists(hp) || hp.length === 0) {
    return wrong("has no hp: a list of values for each configuration");
  }
  if (!isListOfLists(valid)) return wrong("has no valid: a list of losses for each configuration");
  if (hp.length !== valid.length) {
    return wrong(`has ${hp.length} configurations in hp and ${valid.length} curves in valid`);
  }
  const steps = valid[0]?.length ?? 0;
  const misfit = hp.findIndex(
    (row, i) => row.length !== names.length || valid[i]?.length !== steps,
  );
  if (misfit >= 0 || steps === 0) {
    return wrong(
      `has another number of hyperparameters or steps in configuration ${Math.max(misfit, 0)}`,
    );
  }
  const columns = names.map((key, i): Column => {
    return { name: key, values: hp.map((row) => row[i] ?? null) };
  });
  const values = Float64Array.from(valid.flat(), (value) =>
    typeof value === "number" ? value : Number.NaN,
  );
  return {
    name,
    space: spaceOfColumns(columns),
    rows: hp.map((row) => Object.fromEntries(names.map((key, i) => [key, row[i] ?? null]))),
    steps,
    smallerIsBetter: true,
    valueAt: (row, step) => values[row * steps + step - 1] ?? Number.NaN,
    derived: new Derived(),
  };
}

type Parameter = { readonly name: string; readonly choices: readonly Json[] };

/**
 * Reads the final values of every configuration of a grid: little-endian float32, row-major in the order of the table's
 * `params` in `spec.json`, then of its `replicates`. The metric after the single step is the mean of the replicates; a
 * missing replicate is NaN and is left out of the mean.
 */
export function gridTable(name: string, specs: unknown, bytes: Uint8Array): Table | Rejection {
  const spec = isMapping(specs) ? specs[name] : undefined;
  if (!isMapping(spec)) return wrong(`is not described in the spec.json beside it, by ${name}`);
  const { params, replicates = 1, direction } = spec;
  if (!Array.isArray(params) || !params.every(isParameter) || params.length === 0) {
    return wrong("has no params with names and choices in spec.json");
  }
  if (direction !== "minimize" && direction !== "maximize") {
    return wrong("has no direction in spec.json: minimize or maximize");
  }
  if (typeof replicates !== "number" || !Number.isInteger(replicates) || replicates < 1) {
    return wrong("has no whole number of replicates in spec.json");
  }
  const size = params.reduce((product, { choices }) => product * choices.length, 1);
  const expected = size * replicates * Float32Array.BYTES_PER_ELEMENT;
  if (bytes.length !== expected) {
    return wrong(`is ${bytes.length} bytes long, where its spec.json makes ${expected}`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const rows = Array.from({ length: size }, (_, row) => gridRow(params, row));
  const valueOf = (at: number): number =>
    view.getFloat32(at * Float32Array.BYTES_PER_ELEMENT, true);
  const means = Float64Array.from({ length: size }, (_, row) =>
    meanOfRecorded(Array.from({ length: replicates }, (_2, i) => valueOf(row * replicates + i))),
  );
  return {
    name,
    space: spaceOfColumns(params.map((param) => ({ name: param.name, values: param.choices }))),
    rows,
    steps: 1,
    smallerIsBetter: direction === "minimize",
    valueAt: (row) => means[row] ?? Number.NaN,
    derived: new Derived(),
  };
}

/** Returns the mean of the recorded values; NaN if none was recorded. */
function meanOfRecorded(values: readonly number[]): number {
  const recorded = values.filter((value) => !Number.isNaN(value));
  return recorded.reduce((sum, value) => sum + value, 0) / recorded.length;
}

function isParameter(value: Json): value is Parameter & JsonObject {
  if (!isMapping(value)) return false;
  const { name, choices } = value;
  return typeof name === "string" && Array.isArray(choices) && choices.length > 0;
}

/** Returns the grid's row by its number; the last parameter varies fastest. */
function gridRow(params: readonly Parameter[], row: number): JsonObject {
  let rest = row;
  const entries = params.toReversed().map(({ name, choices }): [string, Json] => {
    const choice = choices[rest % choices.length] ?? null;
    rest = Math.floor(rest / choices.length);
    return [name, choice];
  });
  return Object.fromEntries(entries.reverse());
}
