/**
 * The only reader of recorded configurations, in events, commands and launches: services never read the struct
 * themselves. It loads neither the YAML parser nor the schema library.
 */
import type { CheckpointStorage, NormalisedConfig, StoragePlace } from "./config.ts";
import { readConstraints } from "./constraints.ts";
import { defaults } from "./defaults.ts";
import { durationSeconds } from "./duration.ts";
import { readEarlyStopping } from "./early-stopping/policies.ts";
import { variablesByDevice } from "./environment/variables.ts";
import { readSpace } from "./hyperparameters/read.ts";
import {
  countAt,
  flagAt,
  isMapping,
  type JsonObject,
  mappingAt,
  notNegativeAt,
  numberAt,
  numbersOr,
  textAt,
  textsAt,
  valueAt,
  without,
  withRest,
} from "./json.ts";
import { readLogPolicies } from "./log-policies.ts";
import { readSearcher } from "./searcher/searcher.ts";

export {
  type CheckpointStorage,
  type NormalisedConfig,
  type StoragePlace,
  tensorboardStorage,
} from "./config.ts";
export { defaults } from "./defaults.ts";
export { durationSeconds } from "./duration.ts";
export {
  type BindMount,
  bytesOf,
  type ContainerSection,
  type DeviceKind,
  type DeviceMapping,
  type ProxyPort,
  proxyPortsOf,
  recordedContainer,
} from "./container.ts";
export type { LogAction, LogPolicy } from "./log-policies.ts";
export { type RequestedResources, requestedResources } from "./requested-resources.ts";
export { type Continuation, continuedConfig, recordedLength } from "./searcher/continued.ts";
export { searcherFacts } from "./searcher/searcher.ts";
export { recordedSource, type WarmStartSource } from "./searcher/warm-start-source.ts";
export { recordedPlace } from "./storage-places.ts";
export type { VariablesByDevice } from "./environment/variables.ts";

/**
 * Reads a configuration recorded by any version; never fails: absent or malformed values get their defaults. A
 * normalised configuration is returned unchanged, including keys without effect.
 */
export function recordedConfig(struct: unknown): NormalisedConfig {
  const recorded = isMapping(struct) ? struct : {};
  const read = {
    name: textAt(recorded, "name"),
    description: textAt(recorded, "description"),
    labels: textsAt(recorded, "labels"),
    workspace: textAt(recorded, "workspace"),
    project: textAt(recorded, "project"),
    entrypoint: readEntrypoint(recorded),
    hyperparameters: readSpace(mappingAt(recorded, "hyperparameters")),
    searcher: readSearcher(mappingAt(recorded, "searcher")),
    early_stopping: readEarlyStopping(valueAt(recorded, "early_stopping")),
    resources: readResources(mappingAt(recorded, "resources")),
    preemption_timeout:
      durationSeconds(valueAt(recorded, "preemption_timeout")) ?? defaults.preemption_timeout,
    max_restarts: countAt(recorded, "max_restarts", defaults.max_restarts),
    log_policies: readLogPolicies(valueAt(recorded, "log_policies")),
    retention_policy: readRetention(mappingAt(recorded, "retention_policy")),
    checkpoint_storage: readStorage(mappingAt(recorded, "checkpoint_storage")),
    environment: readEnvironment(mappingAt(recorded, "environment")),
    reproducibility: {
      experiment_seed: numberAt(mappingAt(recorded, "reproducibility"), "experiment_seed", null),
    },
    data: mappingAt(recorded, "data"),
    debug: flagAt(recorded, "debug", false),
    ...readProfiling(recorded),
    ...readTensorboards(recorded),
  };
  return withRest(read, without(recorded, ["profiling", "tensorboard_storage"]));
}

/** Returns the group retention without malformed values; empty if none is recorded. */
function readRetention(recorded: JsonObject): NormalisedConfig["retention_policy"] {
  const byGroup = Object.entries(mappingAt(recorded, "group_retention_days"));
  return {
    log_retention_days: numberAt(recorded, "log_retention_days", null),
    metric_retention_days: numberAt(recorded, "metric_retention_days", null),
    group_retention_days: Object.fromEntries(
      byGroup.flatMap(([group, days]) => (typeof days === "number" ? [[group, days]] : [])),
    ),
  };
}

function readEntrypoint(recorded: JsonObject): string | string[] {
  const entrypoint = valueAt(recorded, "entrypoint");
  const words = textsAt(recorded, "entrypoint");
  if (Array.isArray(entrypoint) && words.length === entrypoint.length) return words;
  return textAt(recorded, "entrypoint");
}

function readResources(resources: JsonObject): NormalisedConfig["resources"] {
  const { slots_per_trial, resource_pool, weight, is_single_node } = defaults.resources;
  const constraints = valueAt(resources, "constraints");
  const read = {
    slots_per_trial: countAt(resources, "slots_per_trial", slots_per_trial),
    priority: numberAt(resources, "priority", null),
    resource_pool: textAt(resources, "resource_pool") || resource_pool,
    weight: notNegativeAt(resources, "weight", weight),
    max_slots: countAt(resources, "max_slots", 0) || null,
    time_limit: durationSeconds(valueAt(resources, "time_limit")) || null,
    is_single_node: flagAt(resources, "is_single_node", is_single_node),
    ...(isMapping(constraints) ? { constraints: readConstraints(constraints) } : {}),
  };
  return withRest(read, without(resources, ["constraints"]));
}

function readStorage(storage: JsonObject): CheckpointStorage {
  const kept = numbersOr(storage, defaults.checkpoint_storage);
  return withRest({ ...readPlace(storage), ...kept }, storage);
}

/** Without a path the place is the reading host's default directory: an empty path. */
function readPlace(storage: JsonObject): StoragePlace {
  const type = textAt(storage, "type", "directory");
  switch (type) {
    case "directory":
      return { type, container_path: textAt(storage, "container_path") };
    case "shared_fs": {
      const host_path = textAt(storage, "host_path");
      const storage_path = textAt(storage, "storage_path");
      return { type, host_path, storage_path };
    }
    default:
      // An unknown kind stays as it is: none of its files is searched in a directory.
      return { type };
  }
}

function readTensorboards(recorded: JsonObject): Pick<NormalisedConfig, "tensorboard_storage"> {
  const storage = valueAt(recorded, "tensorboard_storage");
  if (!isMapping(storage)) return {};
  return { tensorboard_storage: withRest(readPlace(storage), storage) };
}

function readEnvironment(environment: JsonObject): NormalisedConfig["environment"] {
  const variables = variablesByDevice(valueAt(environment, "environment_variables"));
  return withRest({ environment_variables: variables }, environment);
}

function readProfiling(recorded: JsonObject): Pick<NormalisedConfig, "profiling"> {
  const profiling = valueAt(recorded, "profiling");
  if (!isMapping(profiling)) return {};
  const enabled = valueAt(profiling, "enabled");
  const read = typeof enabled === "boolean" ? { enabled } : {};
  return { profiling: withRest(read, without(profiling, ["enabled"])) };
}
