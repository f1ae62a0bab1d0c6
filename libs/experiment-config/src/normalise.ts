/**
 * Turns a document that passed every check into the configuration that services store: defaults are filled in, older
 * shapes rewritten.
 */
import type { NormalisedConfig } from "./config.ts";
import { labelsOf } from "./experiment.ts";
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
  only,
  sortedKeys,
  valueAt,
  without,
} from "./json.ts";
import { recordedConfig } from "./recorded.ts";
import { placeKeys } from "./storage-places.ts";
import { unusedKeys } from "./searcher/schema.ts";
import { pathsOfSecrets, pathsWithoutEffect } from "./sections/without-effect.ts";

/** Keys with an effect that are stored unchanged; other sections need some rewriting. */
const actingKeys = [
  "name",
  "description",
  "workspace",
  "project",
  "entrypoint",
  "early_stopping",
  "max_restarts",
  "preemption_timeout",
  "log_policies",
  "debug",
];
const actingInside = {
  resources: [
    "slots_per_trial",
    "priority",
    "resource_pool",
    "weight",
    "max_slots",
    "time_limit",
    "is_single_node",
    "constraints",
  ],
  environment: ["environment_variables"],
  retention_policy: ["log_retention_days", "metric_retention_days", "group_retention_days"],
  checkpoint_storage: [
    ...placeKeys,
    "save_experiment_best",
    "save_trial_best",
    "save_trial_latest",
  ],
} as const;

/**
 * `document` is the given configuration in its latest shapes; `full` also has every default. Keys with an effect are
 * taken from `full`, all others from `document`, and the result is read with the reader of recorded configurations.
 */
export function normalise(document: JsonObject, full: JsonObject): NormalisedConfig {
  const searcher = mappingAt(full, "searcher");
  const profiling = valueAt(document, "profiling");
  const tensorboards = valueAt(full, "tensorboard_storage");
  const config = recordedConfig({
    ...only(full, actingKeys),
    ...Object.fromEntries(
      Object.entries(actingInside).map(([name, keys]) => [
        name,
        {
          ...only(mappingAt(full, name), keys),
          ...withoutEffectIn(mappingAt(document, name), name),
        },
      ]),
    ),
    labels: labelsOf(valueAt(full, "labels") ?? []),
    searcher: sortedKeys(without(searcher, unusedKeys(valueAt(searcher, "name")))),
    // An absent seed is drawn later.
    reproducibility: mappingAt(document, "reproducibility"),
    data: sortedKeys(mappingAt(full, "data")),
    ...(isMapping(profiling) ? { profiling: sortedKeys(profiling) } : {}),
    ...(isMapping(tensorboards)
      ? {
          tensorboard_storage: {
            ...only(tensorboards, placeKeys),
            ...withoutEffectIn(mappingAt(document, "tensorboard_storage"), "tensorboard_storage"),
          },
        }
      : {}),
    ...withoutEffectIn(document),
  });
  return { ...config, hyperparameters: normaliseSpace(mappingAt(full, "hyperparameters")) };
}

/** Accepted keys without effect stay readable for the training code, except credentials. */
function withoutEffectIn(mapping: JsonObject, section?: string): JsonObject {
  const kept: JsonObject = {};
  for (const path of pathsWithoutEffect) {
    const key = section === undefined ? path[0] : path[1];
    const here =
      section === undefined ? path.length === 1 : path[0] === section && path.length === 2;
    const value = here && key !== undefined ? valueAt(mapping, key) : undefined;
    if (key === undefined || value === undefined) continue;
    const safe = withoutSecrets(value, path);
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
