/**
 * Warns about forgotten types: a mapping without a `type` is a nest of constants, but if its keys are those of a
 * hyperparameter, its `type` is probably missing or misspelt.
 */
import type { FieldProblem } from "@trainyard/kernel";
import { isMapping, type Json, type JsonObject, keyPath, valueAt } from "../json.ts";
import { editDistance } from "../suggest.ts";
import { writtenType } from "./hyperparameters.ts";

const types: readonly string[] = ["const", "int", "double", "log", "categorical"];
const isNumber = (value: Json | undefined): boolean => typeof value === "number";

/** Returns a warning for each nest that looks like a hyperparameter. */
export function typelessHyperparameters(value: Json, path: string): readonly FieldProblem[] {
  if (!isMapping(value)) return [];
  const type = writtenType(value);
  if (type === "nested") {
    const inside = valueAt(value, "hyperparameters") ?? {};
    return typelessHyperparameters(inside, keyPath(path, "hyperparameters"));
  }
  if (type !== null) return [];
  const problem = whyTypeless(value);
  if (problem !== null) return [{ path, detail: problem }];
  return Object.entries(value).flatMap(([key, item]) =>
    typelessHyperparameters(item, keyPath(path, key)),
  );
}

function whyTypeless(value: JsonObject): string | null {
  const misspelt = Object.entries(value).find(
    ([key, item]) => types.includes(String(item)) && editDistance(key.toLowerCase(), "type") <= 2,
  );
  if (misspelt !== undefined) {
    return `has the key ${JSON.stringify(misspelt[0])} and no "type": it is a group of constants, and is not searched; write type: ${misspelt[1]}`;
  }
  const range = isNumber(valueAt(value, "minval")) && isNumber(valueAt(value, "maxval"));
  if (!range && !Array.isArray(valueAt(value, "vals"))) return null;
  const meant = range ? "int, double or log" : "categorical";
  return `has no "type": it is a group of constants, and is not searched; add type: ${meant}`;
}
