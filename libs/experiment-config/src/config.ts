/** The configuration that services store and read: older shapes are rewritten, and every default is filled in. */
import type { EarlyStoppingPolicy } from "./early-stopping/policies.ts";
import type { environment } from "./sections/environment.ts";
import type { HyperparameterSpace } from "./hyperparameters/hyperparameters.ts";
import type { JsonObject } from "./json.ts";
import type { LogPolicy } from "./log-policies.ts";
import type { SearcherConfig } from "./searcher/searcher.ts";
import type { document, reproducibility } from "./sections/document.ts";
import type { profiling } from "./sections/profiling.ts";
import type { resources } from "./sections/resources.ts";
import type { retentionPolicy } from "./sections/retention.ts";
import type * as storage from "./sections/storage.ts";

type ReadBy<Section extends { readonly read: (section: JsonObject) => object }> = Readonly<
  ReturnType<Section["read"]>
>;
export type CheckpointStorage = ReadBy<typeof storage.checkpointStorage>;

/**
 * The normalised configuration as plain JSON, which fits a protobuf Struct unchanged. Accepted keys without effect stay
 * in their place, except those with credentials.
 */
export type NormalisedConfig = ReadBy<typeof document> & {
  readonly hyperparameters: HyperparameterSpace;
  readonly searcher: SearcherConfig;
  /** A trial is stopped as soon as one of these policies decides so. */
  readonly early_stopping: EarlyStoppingPolicy[];
  readonly resources: ReadBy<typeof resources>;
  /** Actions on matching lines of the trials' logs. */
  readonly log_policies: LogPolicy[];
  readonly retention_policy: ReadBy<typeof retentionPolicy>;
  readonly checkpoint_storage: CheckpointStorage;
  /** Absent if TensorBoard files go to the checkpoint storage; `tensorboardStorage` returns the effective one. */
  readonly tensorboard_storage?: ReadBy<typeof storage.tensorboardStorage>;
  readonly environment: ReadBy<typeof environment>;
  readonly reproducibility: ReadBy<typeof reproducibility>;
  /** The section as it was written, if any: the SDK reads it. */
  readonly profiling?: ReadBy<typeof profiling>;
};

/** Returns the hyperparameter space that a searcher samples. */
export function hyperparameterSpace(config: NormalisedConfig): HyperparameterSpace {
  return config.hyperparameters;
}

export function tensorboardStorage(config: NormalisedConfig): storage.StoragePlace {
  return config.tensorboard_storage ?? config.checkpoint_storage;
}

export function withSeed(config: NormalisedConfig, seed: number): NormalisedConfig {
  return { ...config, reproducibility: { ...config.reproducibility, experiment_seed: seed } };
}
