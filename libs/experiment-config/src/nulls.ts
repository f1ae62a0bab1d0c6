import { isMapping, type Json, type JsonObject } from "./json.ts";
import { isHyperparameterType, writtenType } from "./schema/hyperparameters.ts";

/**
 * The document without its nulls, which mean absent everywhere but in what is handed to the training code: under `data`,
 * and under `hyperparameters`, where a null is a constant (`count: null` of a typed hyperparameter is absent there too).
 */
export function withoutNulls(document: JsonObject): JsonObject {
  const kept: JsonObject = {};
  for (const [key, value] of Object.entries(document)) {
    if (value === null) continue;
    if (key === "data") kept[key] = value;
    else if (key === "hyperparameters") kept[key] = withoutNullSettings(value);
    else kept[key] = strip(value);
  }
  return kept;
}

function strip(value: Json): Json {
  if (Array.isArray(value)) return value.map(strip);
  if (!isMapping(value)) return value;
  const kept: JsonObject = {};
  for (const [key, item] of Object.entries(value)) if (item !== null) kept[key] = strip(item);
  return kept;
}

function withoutNullSettings(value: Json): Json {
  if (!isMapping(value)) return value;
  const typed = isHyperparameterType(writtenType(value));
  const kept: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    if (!typed) kept[key] = withoutNullSettings(item);
    else if (item !== null) kept[key] = item;
  }
  return kept;
}
