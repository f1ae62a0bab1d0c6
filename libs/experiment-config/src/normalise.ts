/** A document that passed every check → the configuration that services store: defaults in, legacy shapes rewritten. */
import { pointerOf, resolveConditions } from "./conditions.ts";
import type { CheckpointStorage, NormalisedConfig, SearcherConfig } from "./config.ts";
import type { Conditions, HyperparameterSpace, TypedHyperparameter } from "./hyperparameters.ts";
import { normaliseCustom } from "./custom.ts";
import { normaliseEarlyStopping } from "./early-stopping.ts";
import { normaliseHalving } from "./halving.ts";
import { isMapping, type Json, type JsonObject, sortedKeys, valueAt } from "./json.ts";
import { variablesByDevice } from "./parts/environment.ts";
import { labelsOf } from "./parts/experiment.ts";
import { writtenType } from "./schema/hyperparameters.ts";
import { normalisePopulation } from "./population.ts";
import { unusedKeys } from "./schema/searcher.ts";
import { normalisedObjectives } from "./schema/objectives.ts";
import { pathsOfSecrets, pathsWithoutEffect } from "./schema/without-effect.ts";

/** What the platform takes where Determined leaves it to the pool or to the cluster. */
const defaults = { priority: 42, pool: "default" } as const;

/** `document` is what was given, in the shapes of today; `full` is the same with every default in it. */
export function normalise(document: JsonObject, full: JsonObject): NormalisedConfig {
  const resources = mappingAt(full, "resources");
  const environment = mappingAt(full, "environment");
  const entrypoint = valueAt(full, "entrypoint");
  return {
    name: textAt(full, "name"),
    description: textAt(full, "description"),
    labels: labelsOf(valueAt(full, "labels") ?? []).map(String),
    workspace: textAt(full, "workspace"),
    project: textAt(full, "project"),
    entrypoint: Array.isArray(entrypoint) ? entrypoint.map(String) : String(entrypoint),
    hyperparameters: normaliseHyperparameters(mappingAt(full, "hyperparameters")),
    searcher: normaliseSearcher(mappingAt(full, "searcher")),
    early_stopping: normaliseEarlyStopping(valueAt(full, "early_stopping")),
    resources: {
      slots_per_trial: numberAt(resources, "slots_per_trial"),
      priority: numberAt(resources, "priority", defaults.priority),
      resource_pool: textAt(resources, "resource_pool") || defaults.pool,
      ...withoutEffectIn(mappingAt(document, "resources"), "resources"),
    },
    max_restarts: numberAt(full, "max_restarts"),
    checkpoint_storage: normaliseStorage(
      mappingAt(full, "checkpoint_storage"),
      mappingAt(document, "checkpoint_storage"),
    ),
    environment: {
      environment_variables: variablesByDevice(valueAt(environment, "environment_variables")),
      ...withoutEffectIn(mappingAt(document, "environment"), "environment"),
    },
    reproducibility: {
      experiment_seed: seedAt(mappingAt(document, "reproducibility")),
    },
    data: sortedKeys(mappingAt(full, "data")) as JsonObject,
    debug: valueAt(full, "debug") === true,
    ...normaliseProfiling(document),
    ...withoutEffectIn(document),
  };
}

function mappingAt(mapping: JsonObject, key: string): JsonObject {
  const value = valueAt(mapping, key);
  return isMapping(value) ? value : {};
}

function textAt(mapping: JsonObject, key: string): string {
  const value = valueAt(mapping, key);
  return typeof value === "string" ? value : "";
}

function numberAt(mapping: JsonObject, key: string, otherwise = 0): number {
  const value = valueAt(mapping, key);
  return typeof value === "number" ? value : otherwise;
}

function seedAt(reproducibility: JsonObject): number | null {
  const seed = valueAt(reproducibility, "experiment_seed");
  return typeof seed === "number" ? seed : null;
}

/** As it was written: the SDK reads it. */
function normaliseProfiling(document: JsonObject): JsonObject {
  const written = valueAt(document, "profiling");
  return isMapping(written) ? { profiling: sortedKeys(written) } : {};
}

/** What is accepted without effect stays readable for the training code, save credentials. */
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

function normaliseSearcher(written: JsonObject): SearcherConfig {
  const unused = unusedKeys(valueAt(written, "name"));
  const searcher = Object.fromEntries(
    Object.entries(written).filter(([key]) => !unused.includes(key)),
  );
  const metric = textAt(searcher, "metric");
  const smallerIsBetter = valueAt(searcher, "smaller_is_better") !== false;
  const halving = normaliseHalving(searcher, metric, smallerIsBetter);
  const own =
    halving ?? normaliseCustom(searcher, metric, smallerIsBetter) ?? normalisePopulation(searcher);
  const searched = searchedOf(searcher);
  if (own !== null) return { ...own, ...searched, ...withoutEffectIn(searcher, "searcher") };
  // The schema knows every key, and its algorithm reads those that have an effect.
  return sortedKeys({
    ...searcher,
    ...searched,
    ...normalisedObjectives(searcher),
  }) as SearcherConfig;
}

/** One constraint is a list of one; what names nothing is left out. */
function searchedOf(searcher: JsonObject): JsonObject {
  const constraints = valueAt(searcher, "constraints");
  const warmStart = valueAt(searcher, "warm_start");
  return {
    ...(constraints === undefined
      ? {}
      : { constraints: Array.isArray(constraints) ? constraints : [constraints] }),
    ...(warmStart === undefined ? {} : { warm_start: sortedKeys(warmStart) }),
  };
}

function normaliseStorage(storage: JsonObject, written: JsonObject): CheckpointStorage {
  const kept = {
    save_experiment_best: numberAt(storage, "save_experiment_best"),
    save_trial_best: numberAt(storage, "save_trial_best"),
    save_trial_latest: numberAt(storage, "save_trial_latest"),
  };
  if (valueAt(storage, "type") === "directory") {
    return { type: "directory", container_path: textAt(storage, "container_path"), ...kept };
  }
  return {
    type: "shared_fs",
    host_path: textAt(storage, "host_path"),
    storage_path: textAt(storage, "storage_path"),
    ...kept,
    ...withoutEffectIn(written, "checkpoint_storage"),
  };
}

/** Bare literals and lists become constants; keys come in order; a nest without keys stays; conditions are written out. */
function normaliseHyperparameters(space: JsonObject): HyperparameterSpace {
  return normaliseSpace(space, [], resolveConditions(space).conditions);
}

type AllConditions = ReadonlyMap<string, Conditions>;

function normaliseSpace(
  space: JsonObject,
  keys: readonly string[],
  all: AllConditions,
): HyperparameterSpace {
  const nodes: Record<string, TypedHyperparameter | HyperparameterSpace> = {};
  for (const key of Object.keys(space).sort()) {
    nodes[key] = normaliseNode(space[key] ?? null, [...keys, key], all);
  }
  return nodes;
}

function normaliseNode(
  value: Json,
  keys: readonly string[],
  all: AllConditions,
): TypedHyperparameter | HyperparameterSpace {
  const type = writtenType(value);
  if (isMapping(value) && type === null) return normaliseSpace(value, keys, all);
  if (isMapping(value) && type === "nested") {
    return normaliseSpace(mappingAt(value, "hyperparameters"), keys, all);
  }
  const conditions = all.get(pointerOf(keys));
  const typed = normaliseTyped(value);
  return conditions === undefined
    ? typed
    : { ...typed, when: sortedKeys(conditions as JsonObject) as Conditions };
}

function normaliseTyped(value: Json): TypedHyperparameter {
  if (!isMapping(value)) return { type: "const", val: sortedKeys(value) };
  const range = {
    minval: numberAt(value, "minval"),
    maxval: numberAt(value, "maxval"),
  };
  const given = valueAt(value, "count");
  const count = typeof given === "number" ? given : null;
  const type = writtenType(value);
  switch (type) {
    case "int":
    case "double":
      return { type, ...range, count };
    case "log":
      return { type, ...range, base: numberAt(value, "base", 10), count };
    case "categorical": {
      const vals = valueAt(value, "vals");
      return { type, vals: Array.isArray(vals) ? vals.map(sortedKeys) : [] };
    }
    default:
      return { type: "const", val: sortedKeys(valueAt(value, "val") ?? null) };
  }
}
