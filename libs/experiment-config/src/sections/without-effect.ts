/** Sections of Determined's configuration that are parsed and checked but have no effect. */
import { z } from "zod";
import type { JsonObject } from "../json.ts";
import { uniteBy } from "../parts/lists.ts";
import type { Part } from "../parts/part.ts";
import {
  anyText,
  count,
  entry,
  flag,
  freeMapping,
  length,
  positive,
  section,
  text,
  texts,
} from "../parts/values.ts";
import { dataLayer, dataLayerParts } from "./data-layer.ts";
import { IN_CONTAINERS } from "./module.ts";

const bindMount: Part = {
  schema: entry(
    {
      host_path: z
        .string()
        .regex(/^\//, { error: "must be an absolute path, one that begins with /" }),
      container_path: text.refine((path) => path !== ".", { error: 'must not be "."' }),
    },
    { read_only: flag, propagation: anyText },
  ),
  defaults: { read_only: false, propagation: "rprivate" },
};
export const bindMounts: Part = {
  schema: z.array(bindMount.schema).describe("Folders of the host that a container sees."),
  each: bindMount,
  merge: uniteBy("container_path"),
};

const optimizations: Part = {
  schema: section({
    aggregation_frequency: positive,
    auto_tune_tensor_fusion: flag,
    average_aggregated_gradients: flag,
    average_training_metrics: flag,
    gradient_compression: flag,
    grad_updates_size_file: anyText,
    mixed_precision: z.enum(["O0", "O1", "O2", "O3"]),
    tensor_fusion_cycle_time: count,
    tensor_fusion_threshold: count,
  }),
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

const webhooks: Part = {
  schema: section({ webhook_id: z.array(count), webhook_name: texts, exclude: flag }),
  defaults: { exclude: false },
};
const host = { host: anyText, port: count };
const pachydermParts = {
  pachd: section(host),
  proxy: section({ scheme: anyText, ...host }),
  dataset: section({
    project: anyText,
    repo: anyText,
    commit: anyText,
    branch: anyText,
    token: anyText,
  }),
};
const pachyderm: Part = { schema: section(pachydermParts) };
const integrations: Part = {
  schema: section({ webhooks: webhooks.schema, pachyderm: pachyderm.schema }),
  parts: { webhooks, pachyderm },
};

const kerberos: Part = {
  schema: section({ config_file: anyText }),
  required: { config_file: "" },
};
const security: Part = { schema: section({ kerberos: kerberos.schema }), parts: { kerberos } };

const slurm = section({ slots_per_node: positive, gpu_type: anyText, sbatch_args: texts });
const pbs = section({ slots_per_node: positive, pbsbatch_args: texts });

/** Sections by their key in the document, each with the warning about it. */
export const unusedSections: Readonly<Record<string, Part & { readonly warning: string }>> = {
  checkpoint_policy: {
    schema: z
      .enum(["best", "all", "none"])
      .describe("When the Trainer of trainyard.pytorch stores checkpoints: best, all or none."),
    warning:
      "writes no checkpoint by itself: the training code decides after which validations it does, and the Trainer of trainyard.pytorch uses this value",
  },
  min_validation_period: {
    schema: length.describe("How often the Trainer of trainyard.pytorch validates."),
    warning:
      "starts no validation by itself: the training code decides when it validates, and the Trainer of trainyard.pytorch uses this value",
  },
  min_checkpoint_period: {
    schema: length.describe("How often the Trainer of trainyard.pytorch stores a checkpoint."),
    warning:
      "stores no checkpoint by itself: the training code decides when it writes one, and the Trainer of trainyard.pytorch uses this value",
  },
  scheduling_unit: {
    schema: z.int().min(1),
    warning:
      "has no effect: the training code decides how often it reports and asks whether to stop",
  },
  records_per_epoch: {
    schema: count,
    warning: "has no effect: the training code counts its epochs itself",
  },
  perform_initial_validation: {
    schema: flag,
    warning: "has no effect: the training code decides whether it validates before it trains",
  },
  bind_mounts: { ...bindMounts, warning: IN_CONTAINERS },
  optimizations: {
    ...optimizations,
    warning: "has no effect: the training code decides how gradients are put together",
  },
  integrations: {
    ...integrations,
    warning:
      "has an effect on webhooks only: webhook_name picks them by name, and exclude leaves out all",
  },
  slurm: { schema: slurm, warning: "has no effect: trials do not run under Slurm" },
  pbs: { schema: pbs, warning: "has no effect: trials do not run under PBS" },
  security: { ...security, warning: "has no effect" },
  internal: { schema: freeMapping, warning: "has no effect" },
  data_layer: {
    ...dataLayer,
    warning: "has no effect: the training code reads its data itself",
  },
};

/** The defaults of Determined, which are never recorded. */
export const unusedDefaults: JsonObject = {
  bind_mounts: [],
  checkpoint_policy: "best",
  min_validation_period: { batches: 0 },
  min_checkpoint_period: { batches: 0 },
  scheduling_unit: 100,
  records_per_epoch: 0,
  perform_initial_validation: false,
  optimizations: {},
  slurm: {},
  pbs: {},
};

/** Parts by the name of Determined's schema. */
export const unusedParts: Readonly<Record<string, Part>> = {
  ...dataLayerParts,
  "bind-mount": bindMount,
  "bind-mounts": bindMounts,
  optimizations,
  integrations,
  integration: integrations,
  webhooks,
  pachyderm,
  "pachyderm-pachd": { schema: pachydermParts.pachd },
  "pachyderm-proxy": { schema: pachydermParts.proxy },
  "pachyderm-dataset": { schema: pachydermParts.dataset },
  security,
  kerberos,
  "hpc-cluster-slurm": { schema: slurm },
  "hpc-cluster-pbs": { schema: pbs },
  internal: { schema: freeMapping },
};
