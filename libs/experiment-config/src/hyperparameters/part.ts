/** The forms of hyperparameters: nests of typed hyperparameters, constants and nests. */
import { isMapping, itemPath, type Json, type JsonObject, keyPath, valueAt } from "../json.ts";
import type { Check, Note, Part } from "../parts/part.ts";
import { writtenType } from "./hyperparameters.ts";
import {
  hyperparameter as hyperparameterSchema,
  hyperparameterTypes,
  isHyperparameterType,
} from "./schema.ts";

const ranges = ["int", "double", "log"];
/** More steps are refused: the range is then practically continuous, and step numbers would not be exact. */
const STEPS_MAX = 2 ** 31;

const inOrder: Check = (value, path, note) => {
  if (!isMapping(value) || !ranges.includes(String(writtenType(value)))) return;
  const minval = valueAt(value, "minval");
  const maxval = valueAt(value, "maxval");
  if (typeof minval !== "number" || typeof maxval !== "number") return;
  if (minval >= maxval) {
    note(keyPath(path, "minval"), `must be less than maxval: ${minval} is not less than ${maxval}`);
  } else if (!Number.isFinite(maxval - minval)) {
    note(keyPath(path, "maxval"), "is too far from minval: the difference is not a finite number");
  }
};

/** A step must fit into the range, and an int on a logarithmic scale must begin at 1 or more. */
const stepsFit: Check = (value, path, note) => {
  if (!isMapping(value)) return;
  const [minval, maxval] = [valueAt(value, "minval"), valueAt(value, "maxval")];
  if (typeof minval !== "number" || typeof maxval !== "number" || minval >= maxval) return;
  const step = valueAt(value, "step");
  if (writtenType(value) === "int" && valueAt(value, "log") === true) {
    if (minval < 1)
      note(keyPath(path, "minval"), `must be at least 1 with log: true, not ${minval}`);
    if (step !== undefined) note(keyPath(path, "step"), "must not be given with log: true");
  } else if (typeof step === "number" && step > maxval - minval) {
    note(
      keyPath(path, "step"),
      `must not be greater than the range: ${step} is greater than ${maxval} - ${minval}`,
    );
  } else if (typeof step === "number" && step > 0 && (maxval - minval) / step > STEPS_MAX) {
    note(keyPath(path, "step"), `makes more than ${STEPS_MAX} values: leave it out`);
  }
};

/** Calls `see` for every hyperparameter with a type, also inside lists. */
export function eachTyped(
  value: Json,
  path: string,
  see: (value: JsonObject, path: string) => void,
): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) eachTyped(item, itemPath(path, index), see);
  } else if (isMapping(value)) {
    const type = writtenType(value);
    if (type === "nested") {
      eachTyped(valueAt(value, "hyperparameters") ?? {}, keyPath(path, "hyperparameters"), see);
    } else if (type !== null) see(value, path);
    else for (const [key, item] of Object.entries(value)) eachTyped(item, keyPath(path, key), see);
  }
}

/** A grid needs a number of points for each axis: the count. */
export function checkGridCounts(value: Json, path: string, note: Note): void {
  eachTyped(value, path, (typed, at) => {
    if (!ranges.includes(String(writtenType(typed)))) return;
    if (writtenType(typed) === "int" && valueAt(typed, "log") === true) {
      const detail = "has no grid axis: list the values with type: categorical";
      note(keyPath(at, "log"), detail);
    }
    if ((valueAt(typed, "count") ?? valueAt(typed, "step") ?? null) !== null) return;
    note(keyPath(at, "count"), "is missing: a grid search needs the number of points on each axis");
  });
}

/** A null is a constant, except in the settings of a typed hyperparameter, where it means absent. */
function withoutNullSettings(value: Json): Json {
  if (!isMapping(value)) return value;
  const type = writtenType(value);
  const typed = isHyperparameterType(type) || type === "nested";
  const kept: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    if (!typed || (type === "nested" && key === "hyperparameters")) {
      kept[key] = withoutNullSettings(item);
    } else if (item !== null || key === "val") kept[key] = item;
  }
  return kept;
}

/** Rewrites bare values as constants. */
function explicit(value: Json): Json {
  if (!isMapping(value)) return { type: "const", val: value };
  const type = writtenType(value);
  const inside = valueAt(value, "hyperparameters");
  if (type === "nested" && isMapping(inside)) {
    return { ...value, hyperparameters: explicit(inside) };
  }
  if (type !== null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, explicit(item)]));
}

function isNest(value: Json): value is JsonObject {
  return isMapping(value) && writtenType(value) === null;
}

/** Nests are merged; a hyperparameter is replaced as a whole. */
function mergeNests(mine: Json, theirs: Json): Json {
  if (!isNest(mine) || !isNest(theirs)) return mine;
  const merged: JsonObject = { ...theirs };
  for (const [key, value] of Object.entries(mine)) {
    const other = valueAt(theirs, key);
    merged[key] = other === undefined ? value : mergeNests(value, other);
  }
  return merged;
}

const allInOrder: Check = (value, path, note) =>
  eachTyped(value, path, (typed, at) => {
    inOrder(typed, at, note);
    stepsFit(typed, at, note);
  });

export const hyperparameter: Part = {
  schema: hyperparameterSchema,
  check: allInOrder,
  rewrite: explicit,
  merge: mergeNests,
  withoutNulls: withoutNullSettings,
};

const typed = (name: keyof typeof hyperparameterTypes): Part => ({
  ...hyperparameter,
  schema: hyperparameterTypes[name],
});

export const hyperparameterParts: Readonly<Record<string, Part>> = {
  hyperparameter,
  "hyperparameter-const": typed("const"),
  "hyperparameter-int": typed("int"),
  "hyperparameter-double": typed("double"),
  "hyperparameter-log": typed("log"),
  "hyperparameter-categorical": typed("categorical"),
  "check-grid-hyperparameter": {
    schema: hyperparameterSchema,
    check: checkGridCounts,
    withoutNulls: withoutNullSettings,
  },
};
