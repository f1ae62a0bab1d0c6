/** Sections of Determined's configuration that are read and checked, and that nothing acts on. */
import { z } from "zod";
import { dataLayer } from "./data-layer.ts";
import {
  anyText,
  count,
  entry,
  flag,
  freeMapping,
  length,
  oneOf,
  positive,
  section,
  text,
  texts,
} from "./values.ts";

export const logActions = ["cancel_retries", "exclude_node"] as const;
const actions = z.enum(logActions);
export const legacyLogAction = z.strictObject({ type: actions });
export const logAction = oneOf(
  [actions, legacyLogAction],
  'one of "cancel_retries", "exclude_node"',
);
export const logPolicy = section({ name: text, pattern: anyText, action: logAction });
export const logPolicies = z.array(logPolicy);

export const bindMount = entry(
  {
    host_path: z
      .string()
      .regex(/^\//, { error: "must be an absolute path, one that begins with /" }),
    container_path: text.refine((path) => path !== ".", { error: 'must not be "."' }),
  },
  { read_only: flag, propagation: anyText },
);
export const bindMounts = z.array(bindMount);

export const optimizations = section({
  aggregation_frequency: positive,
  auto_tune_tensor_fusion: flag,
  average_aggregated_gradients: flag,
  average_training_metrics: flag,
  gradient_compression: flag,
  grad_updates_size_file: anyText,
  mixed_precision: z.enum(["O0", "O1", "O2", "O3"]),
  tensor_fusion_cycle_time: count,
  tensor_fusion_threshold: count,
});

export const retentionPolicy = section({ log_retention_days: z.int().min(-1).max(32_767) });
export const webhooks = section({
  webhook_id: z.array(count),
  webhook_name: texts,
  exclude: flag,
});
const host = { host: anyText, port: count };
export const pachydermParts = {
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
export const pachyderm = section(pachydermParts);
export const integrations = section({ webhooks, pachyderm });

export const slurm = section({ slots_per_node: positive, gpu_type: anyText, sbatch_args: texts });
export const pbs = section({ slots_per_node: positive, pbsbatch_args: texts });
export const kerberos = section({ config_file: anyText });
export const security = section({ kerberos });

export const withoutEffect = {
  checkpoint_policy: z.enum(["best", "all", "none"]),
  min_validation_period: length,
  min_checkpoint_period: length,
  scheduling_unit: z.int().min(1),
  records_per_epoch: count,
  perform_initial_validation: flag,
  preemption_timeout: count,
  bind_mounts: bindMounts,
  optimizations,
  log_policies: logPolicies,
  retention_policy: retentionPolicy,
  integrations,
  slurm,
  pbs,
  security,
  internal: freeMapping,
  data_layer: dataLayer,
  tensorboard_storage: freeMapping,
} as const;

/** Keys inside sections that are acted on, of which nothing acts on these. `*` is any one of the section's kinds. */
const inside: Readonly<Record<string, readonly string[]>> = {
  resources: [
    "slots",
    "max_slots",
    "weight",
    "is_single_node",
    "shm_size",
    "devices",
    "native_parallel",
    "agent_label",
  ],
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
  searcher: ["source_trial_id", "source_checkpoint_uuid", "max_length", "unit"],
  checkpoint_storage: ["container_path", "checkpoint_path", "tensorboard_path", "propagation"],
};

/** Ways to every key that is accepted without effect. */
export const pathsWithoutEffect: readonly (readonly string[])[] = [
  ...Object.keys(withoutEffect).map((key) => [key]),
  ...Object.entries(inside).flatMap(([name, keys]) => keys.map((key) => [name, key])),
];

/** Of those, the ones that hold credentials: they go no further, since what is normalised is written into the log. */
export const pathsOfSecrets: readonly (readonly string[])[] = [
  ["environment", "registry_auth"],
  ["integrations", "pachyderm"],
  ["data_layer", "access_key"],
  ["data_layer", "secret_key"],
  ["tensorboard_storage"],
];
