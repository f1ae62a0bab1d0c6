/** The whole document as a tree of parts, and the parts by the names of Determined's schemas. */
import { isMapping, type Json, valueAt } from "../json.ts";
import { dataLayer as dataLayerSchema, dataLayers } from "../schema/data-layer.ts";
import { experiment as experimentSchema } from "../schema/experiment.ts";
import { hyperparameters as hyperparametersSchema } from "../schema/hyperparameters.ts";
import { profiling as profilingSchema } from "../schema/profiling.ts";
import {
  deviceEntry,
  devices as devicesSchema,
  resources as resourcesSchema,
} from "../schema/resources.ts";
import { freeMapping, length, searcherLength, positiveUnitLength } from "../schema/values.ts";
import * as schemas from "../schema/without-effect.ts";
import { checkpointStorage, storageParts } from "./checkpoint-storage.ts";
import { environment, environmentParts } from "./environment.ts";
import { checkGridCounts, hyperparameter, hyperparameterParts } from "./hyperparameters.ts";
import { kindOf } from "./kinds.ts";
import { asList, unite, uniteBy } from "./lists.ts";
import { logParts, logPolicies } from "./log-policies.ts";
import type { Check, Part } from "./part.ts";
import { searcher, searcherParts } from "./searcher.ts";

/** A list of labels, or Determined's older mapping with the labels as keys. */
export function labelsOf(value: Json): Json[] {
  const labels = isMapping(value)
    ? Object.keys(value).filter((label) => value[label] !== false)
    : asList(value);
  return labels.every((label) => typeof label === "string") ? [...new Set(labels)].sort() : labels;
}

/** `/dev/host:/dev/container:mode` as the mapping of the three. */
function rewriteDevice(device: Json): Json {
  if (typeof device !== "string") return device;
  const [host_path = "", container_path = "", mode] = device.split(":");
  return { host_path, container_path, ...(mode === undefined ? {} : { mode }) };
}

const checkProfiling: Check = (profiling, path, note) => {
  if (!isMapping(profiling)) return;
  const begin = valueAt(profiling, "begin_on_batch");
  const end = valueAt(profiling, "end_after_batch");
  if (typeof begin === "number" && typeof end === "number" && begin > end) {
    note(
      `${path === "" ? "" : `${path}.`}begin_on_batch`,
      `must not be greater than end_after_batch: ${begin} is greater than ${end}`,
    );
  }
};

const checkCache: Check = (layer, path, note) => {
  if (!isMapping(layer)) return;
  const keys = ["local_cache_host_path", "local_cache_container_path"];
  const [given, absent] = [true, false].map((there) =>
    keys.find((key) => (valueAt(layer, key) !== undefined) === there),
  );
  if (given === undefined || absent === undefined) return;
  note(`${path === "" ? "" : `${path}.`}${absent}`, `is missing: ${given} is of no use without it`);
};

const checkGrid: Check = (document, path, note) => {
  if (!isMapping(document)) return;
  const search = valueAt(document, "searcher");
  const space = valueAt(document, "hyperparameters");
  if (!isMapping(search) || valueAt(search, "name") !== "grid" || !isMapping(space)) return;
  checkGridCounts(space, path === "" ? "hyperparameters" : `${path}.hyperparameters`, note);
};

const bindMount: Part = {
  schema: schemas.bindMount,
  defaults: { read_only: false, propagation: "rprivate" },
};
const bindMounts: Part = {
  schema: schemas.bindMounts,
  each: bindMount,
  merge: uniteBy("container_path"),
};
const device: Part = { schema: deviceEntry, rewrite: rewriteDevice, defaults: { mode: "mrw" } };
const devices: Part = { schema: devicesSchema, each: device, merge: uniteBy("container_path") };
const resources: Part = {
  schema: resourcesSchema,
  parts: { devices },
  defaults: {
    slots_per_trial: 1,
    weight: 1,
    resource_pool: "",
    devices: [],
    native_parallel: false,
  },
};
const profiling: Part = {
  schema: profilingSchema,
  check: checkProfiling,
  defaults: { enabled: false, begin_on_batch: 0, sync_timings: true },
};
const optimizations: Part = {
  schema: schemas.optimizations,
  defaults: {
    aggregation_frequency: 1,
    auto_tune_tensor_fusion: false,
    average_aggregated_gradients: true,
    average_training_metrics: true,
    gradient_compression: false,
    mixed_precision: "O0",
    tensor_fusion_cycle_time: 1,
    tensor_fusion_threshold: 64,
  },
};
const webhooks: Part = { schema: schemas.webhooks, defaults: { exclude: false } };
const pachyderm: Part = { schema: schemas.pachyderm };
const integrations: Part = { schema: schemas.integrations, parts: { webhooks, pachyderm } };
const kerberos: Part = { schema: schemas.kerberos, required: { config_file: "" } };
const security: Part = { schema: schemas.security, parts: { kerberos } };
const reproducibility: Part = {
  schema: experimentSchema.shape.reproducibility.unwrap(),
  required: { experiment_seed: "whoever submits draws one" },
  fill: (value, { seed }) => (isMapping(value) ? { experiment_seed: seed, ...value } : value),
};
const layer = (name: keyof typeof dataLayers): Part => ({
  schema: dataLayers[name],
  check: checkCache,
});
const dataLayer: Part = {
  schema: dataLayerSchema,
  kind: kindOf("type", { shared_fs: layer("shared_fs"), s3: layer("s3"), gcs: layer("gcs") }),
};

export const experiment: Part = {
  schema: experimentSchema,
  check: checkGrid,
  parts: {
    labels: {
      schema: experimentSchema.shape.labels.unwrap(),
      rewrite: labelsOf,
      merge: (mine, theirs) => labelsOf(unite(labelsOf(mine), labelsOf(theirs), (one) => one)),
    },
    data: { schema: freeMapping, withoutNulls: (value) => value },
    hyperparameters: hyperparameter,
    searcher,
    resources,
    checkpoint_storage: checkpointStorage,
    environment,
    reproducibility,
    bind_mounts: bindMounts,
    profiling,
    optimizations,
    log_policies: logPolicies,
    integrations,
    security,
    data_layer: dataLayer,
  },
  required: {
    name: "",
    hyperparameters: "",
    reproducibility: "",
    searcher: "it says how to search, for example {name: single, metric: validation_loss}",
    checkpoint_storage:
      "it says where checkpoints go, for example {type: directory, container_path: /checkpoints}, and the cluster has no default",
  },
  defaults: {
    name: "",
    labels: [],
    workspace: "",
    project: "",
    data: {},
    debug: false,
    hyperparameters: {},
    resources: {},
    environment: {},
    reproducibility: {},
    max_restarts: 5,
    bind_mounts: [],
    checkpoint_policy: "best",
    min_validation_period: { batches: 0 },
    min_checkpoint_period: { batches: 0 },
    scheduling_unit: 100,
    records_per_epoch: 0,
    perform_initial_validation: false,
    profiling: {},
    optimizations: {},
    log_policies: [],
    slurm: {},
    pbs: {},
  },
};

const schemaOnly: Readonly<Record<string, Part["schema"]>> = {
  length,
  "check-positive-length": positiveUnitLength,
  "searcher-length": searcherLength,
  "retention-policy": schemas.retentionPolicy,
  "hpc-cluster-slurm": schemas.slurm,
  "hpc-cluster-pbs": schemas.pbs,
  "pachyderm-pachd": schemas.pachydermParts.pachd,
  "pachyderm-proxy": schemas.pachydermParts.proxy,
  "pachyderm-dataset": schemas.pachydermParts.dataset,
  internal: freeMapping,
  "tensorboard-storage": freeMapping,
};

const parts: Readonly<Record<string, Part>> = {
  ...Object.fromEntries(Object.entries(schemaOnly).map(([name, schema]) => [name, { schema }])),
  ...storageParts,
  ...environmentParts,
  ...hyperparameterParts,
  ...logParts,
  ...searcherParts,
  experiment,
  hyperparameters: { ...hyperparameter, schema: hyperparametersSchema },
  resources,
  reproducibility,
  device,
  devices,
  "bind-mount": bindMount,
  "bind-mounts": bindMounts,
  profiling,
  optimizations,
  integrations,
  integration: integrations,
  webhooks,
  pachyderm,
  security,
  kerberos,
  "data-layer": dataLayer,
  "data-layer-shared-fs": layer("shared_fs"),
  "data-layer-s3": layer("s3"),
  "data-layer-gcs": layer("gcs"),
};

export function partOf(name: string): Part | undefined {
  return Object.hasOwn(parts, name) ? parts[name] : undefined;
}
