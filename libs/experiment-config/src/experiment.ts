/** The whole document as a tree of parts, and the parts by the names of Determined's schemas. */
import { earlyStopping } from "./early-stopping/schema.ts";
import { environment, environmentParts } from "./sections/environment.ts";
import { checkGridCounts, hyperparameter, hyperparameterParts } from "./hyperparameters/part.ts";
import { hyperparameters as hyperparametersSchema } from "./hyperparameters/schema.ts";
import { isMapping, valueAt } from "./json.ts";
import type { Check, Part } from "./parts/part.ts";
import * as values from "./parts/values.ts";
import { searcher, searcherParts } from "./searcher/part.ts";
import { document, reproducibility } from "./sections/document.ts";
import { logParts, logPolicies } from "./sections/log-policies.ts";
import { schemasOf, sectionPart } from "./sections/module.ts";
import { profiling } from "./sections/profiling.ts";
import { device, devices, resources } from "./sections/resources.ts";
import { retentionPolicy } from "./sections/retention.ts";
import { checkpointStorage, storageParts, tensorboardStorage } from "./sections/storage.ts";
import { unusedDefaults, unusedParts, unusedSections } from "./sections/without-effect.ts";

const checkGrid: Check = (document, path, note) => {
  if (!isMapping(document)) return;
  const search = valueAt(document, "searcher");
  const space = valueAt(document, "hyperparameters");
  if (!isMapping(search) || valueAt(search, "name") !== "grid" || !isMapping(space)) return;
  checkGridCounts(space, path === "" ? "hyperparameters" : `${path}.hyperparameters`, note);
};

const hyperparameters: Part = { ...hyperparameter, schema: hyperparametersSchema };

/** The part of every section, and of every key of the document with rules of its own. */
const documentParts: Readonly<Record<string, Part>> = {
  ...document.parts(values),
  hyperparameters,
  searcher,
  early_stopping: { schema: earlyStopping },
  resources: sectionPart(resources, values),
  checkpoint_storage: checkpointStorage.parts(values).part,
  tensorboard_storage: tensorboardStorage.parts(values).part,
  environment: sectionPart(environment, values),
  profiling: sectionPart(profiling, values),
  reproducibility: sectionPart(reproducibility, values),
  log_policies: logPolicies,
  retention_policy: sectionPart(retentionPolicy, values),
  ...unusedSections,
};

const schemas = { ...document.keys(values), ...schemasOf(documentParts) };

export const documentKeys: readonly string[] = Object.keys(schemas);

export const experiment: Part = {
  schema: values.section(schemas),
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
    ...document.defaults,
    hyperparameters: {},
    resources: {},
    environment: {},
    reproducibility: {},
    profiling: {},
    log_policies: [],
    ...unusedDefaults,
  },
};

const parts: Readonly<Record<string, Part>> = {
  ...storageParts(values),
  ...environmentParts(values),
  ...hyperparameterParts,
  ...searcherParts,
  ...logParts,
  ...unusedParts,
  experiment,
  hyperparameters,
  resources: sectionPart(resources, values),
  reproducibility: sectionPart(reproducibility, values),
  "retention-policy": sectionPart(retentionPolicy, values),
  device: device(values),
  devices: devices(values),
  profiling: sectionPart(profiling, values),
  length: { schema: values.length },
  "check-positive-length": { schema: values.positiveUnitLength },
  "searcher-length": { schema: values.searcherLength },
};

export function partOf(name: string): Part | undefined {
  return Object.hasOwn(parts, name) ? parts[name] : undefined;
}
