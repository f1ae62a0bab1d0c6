/** The whole document as a tree of parts, and the parts by the names of Determined's schemas. */
import { z } from "zod";
import { defaults } from "./defaults.ts";
import { durationPattern, durationSeconds, durationShape } from "./duration.ts";
import { earlyStopping } from "./early-stopping/schema.ts";
import { environment, environmentParts } from "./environment/environment.ts";
import { checkGridCounts, hyperparameter, hyperparameterParts } from "./hyperparameters/part.ts";
import { hyperparameters as hyperparametersSchema } from "./hyperparameters/schema.ts";
import { isMapping, type Json, valueAt } from "./json.ts";
import { configLimits } from "./limits.ts";
import { asList, unite } from "./parts/lists.ts";
import type { Check, Part } from "./parts/part.ts";
import {
  anyText,
  count,
  flag,
  freeMapping,
  length,
  oneOf,
  positiveUnitLength,
  searcherLength,
  section,
  text,
  texts,
} from "./parts/values.ts";
import { searcher, searcherParts } from "./searcher/part.ts";
import {
  checkpointStorage,
  storageParts,
  tensorboardStorage,
} from "./sections/checkpoint-storage.ts";
import { logParts, logPolicies, retentionPolicy } from "./sections/log-policies.ts";
import { profiling } from "./sections/profiling.ts";
import { device, devices, resources } from "./sections/resources.ts";
import { unusedParts, unusedSections } from "./sections/without-effect.ts";

/** A list of labels, or Determined's older mapping with the labels as keys. */
export function labelsOf(value: Json): Json[] {
  const labels = isMapping(value)
    ? Object.keys(value).filter((label) => value[label] !== false)
    : asList(value);
  return labels.every((label) => typeof label === "string") ? [...new Set(labels)].sort() : labels;
}

const labels: Part = {
  schema: oneOf(
    [texts, z.record(text, z.any())],
    "a list of texts (or a mapping whose keys are the labels)",
  ),
  rewrite: labelsOf,
  merge: (mine, theirs) => labelsOf(unite(labelsOf(mine), labelsOf(theirs), (one) => one)),
};

const checkGrid: Check = (document, path, note) => {
  if (!isMapping(document)) return;
  const search = valueAt(document, "searcher");
  const space = valueAt(document, "hyperparameters");
  if (!isMapping(search) || valueAt(search, "name") !== "grid" || !isMapping(space)) return;
  checkGridCounts(space, path === "" ? "hyperparameters" : `${path}.hyperparameters`, note);
};

const reproducibility: Part = {
  schema: section({ experiment_seed: count }),
  required: { experiment_seed: "the client draws one when it submits" },
  fill: (value, { seed }) => (isMapping(value) ? { experiment_seed: seed, ...value } : value),
};

const hyperparameters: Part = { ...hyperparameter, schema: hyperparametersSchema };

/** The part of every key of the document. */
const documentParts: Readonly<Record<string, Part>> = {
  name: { schema: anyText },
  description: { schema: anyText },
  labels,
  workspace: {
    schema: anyText.refine(({ length }) => length <= configLimits.workspaceCharactersMax, {
      error: `must be a name of at most ${configLimits.workspaceCharactersMax} characters`,
    }),
  },
  project: { schema: anyText },
  data: { schema: freeMapping, withoutNulls: (value) => value },
  debug: { schema: flag },
  entrypoint: {
    schema: oneOf([text, z.array(text).min(1)], "a command: text, or a list of texts"),
  },
  hyperparameters,
  searcher,
  early_stopping: { schema: earlyStopping },
  resources,
  max_restarts: { schema: z.int().min(0).max(configLimits.restartsMax) },
  preemption_timeout: {
    schema: oneOf(
      [count, z.string().regex(durationPattern, { error: `must be ${durationShape}` })],
      durationShape,
    ),
    check: (value, path, note) => {
      const seconds = durationSeconds(value);
      if (seconds !== null && seconds > configLimits.preemptionTimeoutMaxSeconds) {
        note(path, "must be at most 24 hours");
      }
    },
  },
  checkpoint_storage: checkpointStorage,
  tensorboard_storage: tensorboardStorage,
  environment,
  profiling,
  reproducibility,
  log_policies: logPolicies,
  retention_policy: retentionPolicy,
  ...unusedSections,
};

export const documentKeys: readonly string[] = Object.keys(documentParts);

export const experiment: Part = {
  schema: section(
    Object.fromEntries(Object.entries(documentParts).map(([key, { schema }]) => [key, schema])),
  ),
  check: checkGrid,
  parts: documentParts,
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
    max_restarts: defaults.max_restarts,
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

const parts: Readonly<Record<string, Part>> = {
  ...storageParts,
  ...environmentParts,
  ...hyperparameterParts,
  ...searcherParts,
  ...logParts,
  ...unusedParts,
  experiment,
  hyperparameters,
  resources,
  reproducibility,
  device,
  devices,
  profiling,
  length: { schema: length },
  "check-positive-length": { schema: positiveUnitLength },
  "searcher-length": { schema: searcherLength },
};

export function partOf(name: string): Part | undefined {
  return Object.hasOwn(parts, name) ? parts[name] : undefined;
}
