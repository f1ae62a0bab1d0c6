/** A document that passed every check → the configuration that services store: defaults in, legacy shapes rewritten. */
import type {
  CheckpointStorage,
  HyperparameterSpace,
  NormalisedConfig,
  SearcherConfig,
  TypedHyperparameter,
} from "./config.ts";
import { isMapping, type Json, type JsonObject, sortedKeys, valueAt } from "./json.ts";
import { labelsOf, variablesByDevice } from "./merge.ts";
import { writtenType } from "./schema/hyperparameters.ts";
import { pathsOfSecrets, pathsWithoutEffect } from "./schema/without-effect.ts";

/** Determined's defaults, for what is acted on. */
const defaults = {
  maxRestarts: 5,
  slotsPerTrial: 1,
  priority: 42,
  pool: "default",
  concurrentTrials: 16,
  experimentBest: 0,
  trialBest: 1,
  trialLatest: 1,
} as const;

export function normalise(document: JsonObject): NormalisedConfig {
  const resources = mappingAt(document, "resources");
  const environment = mappingAt(document, "environment");
  const entrypoint = valueAt(document, "entrypoint");
  return {
    name: textAt(document, "name"),
    description: textAt(document, "description"),
    labels: [...new Set(labelsOf(valueAt(document, "labels") ?? []).map(String))].sort(),
    workspace: textAt(document, "workspace"),
    project: textAt(document, "project"),
    entrypoint: Array.isArray(entrypoint) ? entrypoint.map(String) : String(entrypoint),
    hyperparameters: normaliseSpace(mappingAt(document, "hyperparameters")),
    searcher: normaliseSearcher(mappingAt(document, "searcher")),
    resources: {
      slots_per_trial: numberAt(resources, "slots_per_trial", defaults.slotsPerTrial),
      priority: numberAt(resources, "priority", defaults.priority),
      resource_pool: textAt(resources, "resource_pool") || defaults.pool,
      ...withoutEffectIn(resources, "resources"),
    },
    max_restarts: numberAt(document, "max_restarts", defaults.maxRestarts),
    checkpoint_storage: normaliseStorage(mappingAt(document, "checkpoint_storage")),
    environment: {
      environment_variables: variablesByDevice(valueAt(environment, "environment_variables")),
      ...withoutEffectIn(environment, "environment"),
    },
    reproducibility: {
      experiment_seed: seedAt(mappingAt(document, "reproducibility")),
    },
    data: sortedKeys(mappingAt(document, "data")) as JsonObject,
    debug: valueAt(document, "debug") === true,
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

function numberAt(mapping: JsonObject, key: string, otherwise: number): number {
  const value = valueAt(mapping, key);
  return typeof value === "number" ? value : otherwise;
}

function seedAt(reproducibility: JsonObject): number | null {
  const seed = valueAt(reproducibility, "experiment_seed");
  return typeof seed === "number" ? seed : null;
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

function normaliseSearcher(searcher: JsonObject): SearcherConfig {
  const common = {
    metric: textAt(searcher, "metric"),
    smaller_is_better: valueAt(searcher, "smaller_is_better") !== false,
  };
  const max_concurrent_trials = numberAt(
    searcher,
    "max_concurrent_trials",
    defaults.concurrentTrials,
  );
  const max_trials = numberAt(searcher, "max_trials", 1);
  const rest = withoutEffectIn(searcher, "searcher");
  switch (valueAt(searcher, "name")) {
    case "random":
      return { name: "random", ...common, max_trials, max_concurrent_trials, ...rest };
    case "sobol":
      return { name: "sobol", ...common, max_trials, max_concurrent_trials, ...rest };
    case "grid":
      return { name: "grid", ...common, max_concurrent_trials, ...rest };
    default:
      return { name: "single", ...common, ...rest };
  }
}

function normaliseStorage(storage: JsonObject): CheckpointStorage {
  const kept = {
    save_experiment_best: numberAt(storage, "save_experiment_best", defaults.experimentBest),
    save_trial_best: numberAt(storage, "save_trial_best", defaults.trialBest),
    save_trial_latest: numberAt(storage, "save_trial_latest", defaults.trialLatest),
  };
  if (valueAt(storage, "type") === "directory") {
    return { type: "directory", container_path: textAt(storage, "container_path"), ...kept };
  }
  return {
    type: "shared_fs",
    host_path: textAt(storage, "host_path"),
    storage_path: textAt(storage, "storage_path"),
    ...kept,
    ...withoutEffectIn(storage, "checkpoint_storage"),
  };
}

/** Bare literals and lists become constants; keys come in order; a nest without keys stays. */
export function normaliseSpace(space: JsonObject): HyperparameterSpace {
  const nodes: Record<string, TypedHyperparameter | HyperparameterSpace> = {};
  for (const key of Object.keys(space).sort()) nodes[key] = normaliseNode(space[key] ?? null);
  return nodes;
}

function normaliseNode(value: Json): TypedHyperparameter | HyperparameterSpace {
  if (!isMapping(value)) return { type: "const", val: sortedKeys(value) };
  const range = {
    minval: numberAt(value, "minval", 0),
    maxval: numberAt(value, "maxval", 0),
  };
  const given = valueAt(value, "count");
  const count = typeof given === "number" ? given : null;
  const type = writtenType(value);
  switch (type) {
    case null:
      return normaliseSpace(value);
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
