/**
 * Turns a document that passed every check into the configuration that services store: defaults are filled in, older
 * shapes rewritten.
 */
import type { NormalisedConfig } from "./config.ts";
import { pointerOf, resolveConditions } from "./hyperparameters/conditions.ts";
import {
  type Conditions,
  type HyperparameterSpace,
  type TypedHyperparameter,
  writtenType,
} from "./hyperparameters/hyperparameters.ts";
import { readTyped } from "./hyperparameters/read.ts";
import {
  isMapping,
  type Json,
  type JsonObject,
  mappingAt,
  sortedKeys,
  valueAt,
  without,
} from "./json.ts";
import { recordedConfig } from "./recorded.ts";
import { unusedKeys } from "./searcher/schema.ts";
import { keysAsWrittenIn, pathsOfSecrets } from "./sections/as-written.ts";

/**
 * `document` is the given configuration in its latest shapes; `full` also has every default. Keys with an effect are
 * taken from `full`, all others from `document`, and the result is read with the reader of recorded configurations.
 */
export function normalise(document: JsonObject, full: JsonObject): NormalisedConfig {
  const searcher = mappingAt(full, "searcher");
  const profiling = valueAt(document, "profiling");
  const acting = Object.entries(without(full, keysAsWrittenIn())).map(
    ([name, value]) => [name, isMapping(value) ? sectionOf(name, document, value) : value] as const,
  );
  const config = recordedConfig({
    ...Object.fromEntries(acting),
    searcher: sortedKeys(without(searcher, unusedKeys(valueAt(searcher, "name")))),
    // An absent seed is drawn later.
    reproducibility: mappingAt(document, "reproducibility"),
    data: sortedKeys(mappingAt(full, "data")),
    // The training code reads the section, which is absent unless it was given.
    profiling: isMapping(profiling) ? sortedKeys(profiling) : null,
    ...asWrittenIn(document, keysAsWrittenIn()),
  });
  return { ...config, hyperparameters: normaliseSpace(mappingAt(full, "hyperparameters")) };
}

function sectionOf(name: string, document: JsonObject, full: JsonObject): JsonObject {
  return {
    ...without(full, keysAsWrittenIn(name)),
    ...asWrittenIn(mappingAt(document, name), keysAsWrittenIn(name), [name]),
  };
}

/**
 * Returns the given keys of the mapping at `path` as they were written, for the code that runs, except credentials.
 */
export function asWrittenIn(
  mapping: JsonObject,
  keys: readonly string[],
  path: readonly string[] = [],
): JsonObject {
  const kept: JsonObject = {};
  for (const key of keys) {
    const value = valueAt(mapping, key);
    if (value === undefined) continue;
    const safe = withoutSecrets(value, [...path, key]);
    if (safe !== undefined) kept[key] = sortedKeys(safe);
  }
  return kept;
}

function withoutSecrets(value: Json, path: readonly string[]): Json | undefined {
  const inside = pathsOfSecrets.filter((secret) => path.every((key, i) => secret[i] === key));
  if (inside.some((secret) => secret.length === path.length)) return undefined;
  if (!isMapping(value)) return value;
  const hidden = new Set(inside.map((secret) => secret[path.length]));
  return Object.fromEntries(Object.entries(value).filter(([key]) => !hidden.has(key)));
}

/** Writes out conditions: each hyperparameter gets its complete condition, with absolute paths. */
function normaliseSpace(space: JsonObject): HyperparameterSpace {
  const { conditions } = resolveConditions(space);
  const nest = (inside: JsonObject, keys: readonly string[]): HyperparameterSpace =>
    Object.fromEntries(
      Object.entries(inside)
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, value]) => [key, node(value, [...keys, key])]),
    );
  const node = (
    value: Json,
    keys: readonly string[],
  ): TypedHyperparameter | HyperparameterSpace => {
    const type = writtenType(value);
    if (isMapping(value) && type === null) return nest(value, keys);
    if (isMapping(value) && type === "nested")
      return nest(mappingAt(value, "hyperparameters"), keys);
    const when = conditions.get(pointerOf(keys));
    const typed = readTyped(value);
    return when === undefined
      ? typed
      : { ...typed, when: sortedKeys(when as JsonObject) as Conditions };
  };
  return nest(space, []);
}
