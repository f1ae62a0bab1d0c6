/** Sections of Determined's configuration that are parsed and checked but have no effect. */
import { z } from "zod";
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
const bindMounts: Part = {
  schema: z.array(bindMount.schema),
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

/** Sections by their key in the document. */
export const unusedSections: Readonly<Record<string, Part>> = {
  checkpoint_policy: { schema: z.enum(["best", "all", "none"]) },
  min_validation_period: { schema: length },
  min_checkpoint_period: { schema: length },
  scheduling_unit: { schema: z.int().min(1) },
  records_per_epoch: { schema: count },
  perform_initial_validation: { schema: flag },
  bind_mounts: bindMounts,
  optimizations,
  integrations,
  slurm: { schema: slurm },
  pbs: { schema: pbs },
  security,
  internal: { schema: freeMapping },
  data_layer: dataLayer,
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

const besideFolder = ["container_path", "checkpoint_path", "tensorboard_path", "propagation"];

/** Keys without effect inside sections that have an effect. `*` is any kind of the section. */
const inside: Readonly<Record<string, readonly string[]>> = {
  resources: ["slots", "shm_size", "devices", "native_parallel", "agent_label"],
  environment: [
    "image",
    "ports",
    "proxy_ports",
    "force_pull_image",
    "registry_auth",
    "add_capabilities",
    "drop_capabilities",
    "pod_spec",
  ],
  profiling: ["sync_timings"],
  searcher: ["max_length", "unit"],
  checkpoint_storage: besideFolder,
  tensorboard_storage: besideFolder,
};

/** The paths of all keys that are accepted without effect. */
export const pathsWithoutEffect: readonly (readonly string[])[] = [
  ...Object.keys(unusedSections).map((key) => [key]),
  ...Object.entries(inside).flatMap(([name, keys]) => keys.map((key) => [name, key])),
];

/** The paths that contain credentials: they are dropped because a normalised configuration is written into the log. */
export const pathsOfSecrets: readonly (readonly string[])[] = [
  ["environment", "registry_auth"],
  ["integrations", "pachyderm"],
  ["data_layer", "access_key"],
  ["data_layer", "secret_key"],
];
