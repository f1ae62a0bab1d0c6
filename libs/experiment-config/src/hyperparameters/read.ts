/** Reads a hyperparameter space from any JSON; conditions are kept as they are written. */
import {
  flagAt,
  isMapping,
  type Json,
  type JsonObject,
  numberAt,
  numbersOr,
  optionalNumber,
  sortedKeys,
  valueAt,
} from "../json.ts";
import {
  type Conditions,
  type HyperparameterSpace,
  type TypedHyperparameter,
  writtenType,
} from "./hyperparameters.ts";

/** Reads a space: bare literals and lists become constants, keys are sorted, and empty nests stay. */
export function readSpace(space: JsonObject): HyperparameterSpace {
  const keys = Object.keys(space).sort();
  return Object.fromEntries(keys.map((key) => [key, readNode(space[key] ?? null)]));
}

function readNode(value: Json): TypedHyperparameter | HyperparameterSpace {
  if (!isMapping(value)) return readTyped(value);
  if (writtenType(value) === null) return readSpace(value);
  const when = valueAt(value, "when");
  const typed = readTyped(value);
  return isMapping(when) ? { ...typed, when: sortedKeys(when) as Conditions } : typed;
}

/** Reads a typed hyperparameter without its condition. */
export function readTyped(value: Json): TypedHyperparameter {
  if (!isMapping(value)) return { type: "const", val: sortedKeys(value) };
  const range = numbersOr(value, { minval: 0, maxval: 0 });
  const count = numberAt(value, "count", null);
  const type = writtenType(value);
  switch (type) {
    case "int": {
      const log = flagAt(value, "log", false) ? { log: true } : {};
      return { type, ...range, count, ...optionalNumber(value, "step"), ...log };
    }
    case "double":
      return { type, ...range, count, ...optionalNumber(value, "step") };
    case "log":
      return { type, ...range, base: numberAt(value, "base", 10), count };
    case "categorical": {
      const vals = valueAt(value, "vals");
      return { type, vals: Array.isArray(vals) ? sortedKeys(vals) : [] };
    }
    default:
      return { type: "const", val: sortedKeys(valueAt(value, "val") ?? null) };
  }
}
