/** Sections of Determined's configuration that are read and checked, and that nothing acts on. */
import { z } from "zod";
import {
  anyText,
  count,
  flag,
  freeMapping,
  length,
  number,
  oneOf,
  section,
  text,
  texts,
} from "./values.ts";

const logAction = oneOf(
  [
    z.enum(["cancel_retries", "exclude_node"]),
    z.strictObject({ type: z.enum(["cancel_retries", "exclude_node"]) }),
  ],
  'one of "cancel_retries", "exclude_node"',
);
const scheduler = { slots_per_node: count, gpu_type: anyText };

export const withoutEffect = {
  checkpoint_policy: z.enum(["best", "all", "none"]),
  min_validation_period: length,
  min_checkpoint_period: length,
  scheduling_unit: z.int().min(1),
  records_per_epoch: count,
  perform_initial_validation: flag,
  preemption_timeout: count,
  bind_mounts: z.array(
    section({
      host_path: z
        .string()
        .regex(/^\//, { error: "must be an absolute path, one that begins with /" }),
      container_path: text.refine((path) => path !== ".", { error: 'must not be "."' }),
      read_only: flag,
      propagation: anyText,
    }),
  ),
  profiling: section({
    enabled: flag,
    begin_on_batch: count,
    end_after_batch: count,
    sync_timings: flag,
  }),
  optimizations: section({
    aggregation_frequency: count,
    auto_tune_tensor_fusion: flag,
    average_aggregated_gradients: flag,
    average_training_metrics: flag,
    gradient_compression: flag,
    grad_updates_size_file: anyText,
    mixed_precision: anyText,
    tensor_fusion_cycle_time: number,
    tensor_fusion_threshold: number,
  }),
  log_policies: z.array(section({ name: text, pattern: anyText, action: logAction })),
  retention_policy: section({ log_retention_days: z.int().min(-1).max(32_767) }),
  integrations: section({
    webhooks: section({ webhook_id: z.array(count), webhook_name: texts, exclude: flag }),
    pachyderm: section({
      pachd: section({ host: anyText, port: count }),
      proxy: section({ scheme: anyText, host: anyText, port: count }),
      dataset: section({
        project: anyText,
        repo: anyText,
        commit: anyText,
        branch: anyText,
        token: anyText,
      }),
    }),
  }),
  slurm: section({ ...scheduler, sbatch_args: texts }),
  pbs: section({ ...scheduler, pbsbatch_args: texts }),
  security: section({ kerberos: section({ config_file: anyText }) }),
  internal: freeMapping,
  data_layer: freeMapping,
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
  searcher: ["source_trial_id", "source_checkpoint_uuid", "max_length"],
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
];
