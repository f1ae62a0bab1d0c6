/** The configuration that services store and read: older shapes are rewritten, and every default is filled in. */
import type { PlaceConstraints } from "./constraints.ts";
import type { EarlyStoppingPolicy } from "./early-stopping/policies.ts";
import type { VariablesByDevice } from "./environment/variables.ts";
import type { HyperparameterSpace } from "./hyperparameters/hyperparameters.ts";
import type { JsonObject } from "./json.ts";
import type { LogPolicy } from "./log-policies.ts";
import type { SearcherConfig } from "./searcher/searcher.ts";

type StorageCommon = {
  readonly save_experiment_best: number;
  readonly save_trial_best: number;
  readonly save_trial_latest: number;
};
type DirectoryPlace = { readonly type: "directory"; readonly container_path: string };
type SharedFsPlace = {
  readonly type: "shared_fs";
  readonly host_path: string;
  /** The path below host_path; empty for host_path itself. */
  readonly storage_path: string;
};
/** An object store, or an unknown kind of storage, as it was recorded. */
type OtherPlace = { readonly type: string };
export type StoragePlace = DirectoryPlace | SharedFsPlace | OtherPlace;
export type CheckpointStorage = StoragePlace & StorageCommon;

/**
 * The normalised configuration as plain JSON, which fits a protobuf Struct unchanged. Accepted keys without effect stay
 * in their place, except those with credentials.
 */
export type NormalisedConfig = {
  /** Empty if the user gave none. */
  readonly name: string;
  readonly description: string;
  readonly labels: string[];
  readonly workspace: string;
  readonly project: string;
  /** A text is run by the shell; a list is run directly. */
  readonly entrypoint: string | string[];
  readonly hyperparameters: HyperparameterSpace;
  readonly searcher: SearcherConfig;
  /** Actions on matching lines of the trials' logs. */
  readonly log_policies: LogPolicy[];
  /** Days after the experiment's end, -1 for no end; null for the cluster's default. */
  readonly retention_policy: {
    readonly log_retention_days: number | null;
    /** The days for which measurements (points and system samples) are kept. */
    readonly metric_retention_days: number | null;
    /** The days for metric groups with another retention. */
    readonly group_retention_days: Readonly<Record<string, number>>;
  };
  /** A trial is stopped as soon as one of these policies decides so. */
  readonly early_stopping: EarlyStoppingPolicy[];
  readonly resources: {
    readonly slots_per_trial: number;
    /** A lower number is placed first; null for the pool's default. */
    readonly priority: number | null;
    readonly resource_pool: string;
    /** The experiment's share relative to others, in a pool with fair sharing. */
    readonly weight: number;
    /** The maximum number of slots that all runs of the experiment use together; null for no limit. */
    readonly max_slots: number | null;
    /** Seconds after which a run is stopped, and its trial continues with another run; null for no limit. */
    readonly time_limit: number | null;
    /** True if all slots of a trial must be on one agent. */
    readonly is_single_node: boolean;
    /** Absent if runs may be placed anywhere in the pool. */
    readonly constraints?: PlaceConstraints;
  };
  /** Seconds that a preempted run has to write a checkpoint. */
  readonly preemption_timeout: number;
  readonly max_restarts: number;
  readonly checkpoint_storage: CheckpointStorage;
  /** Absent if TensorBoard files go to the checkpoint storage; `tensorboardStorage` returns the effective one. */
  readonly tensorboard_storage?: StoragePlace;
  readonly environment: { readonly environment_variables: VariablesByDevice };
  /** Null until `withSeed` sets one. */
  readonly reproducibility: { readonly experiment_seed: number | null };
  /** The section as it was written, if any: the SDK reads it. */
  readonly profiling?: { readonly enabled?: boolean };
  readonly data: JsonObject;
  readonly debug: boolean;
};

/** Returns the hyperparameter space that a searcher samples. */
export function hyperparameterSpace(config: NormalisedConfig): HyperparameterSpace {
  return config.hyperparameters;
}

export function tensorboardStorage(config: NormalisedConfig): StoragePlace {
  return config.tensorboard_storage ?? config.checkpoint_storage;
}

export function withSeed(config: NormalisedConfig, seed: number): NormalisedConfig {
  return { ...config, reproducibility: { ...config.reproducibility, experiment_seed: seed } };
}
