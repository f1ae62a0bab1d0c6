/** The configuration as services store and read it: legacy shapes rewritten, every default filled in. */
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
  /** Below host_path; empty for host_path itself. */
  readonly storage_path: string;
};
/** An object store, or of a kind that this version does not have: as it was recorded. */
type OtherPlace = { readonly type: string };
export type StoragePlace = DirectoryPlace | SharedFsPlace | OtherPlace;
export type CheckpointStorage = StoragePlace & StorageCommon;

/**
 * Keys that are accepted without effect are beside these where they were written, save those that hold credentials.
 * Plain JSON: it fits a protobuf Struct as it is.
 */
export type NormalisedConfig = {
  /** Empty when the user gave none. */
  readonly name: string;
  readonly description: string;
  readonly labels: string[];
  readonly workspace: string;
  readonly project: string;
  /** Text is for the shell, a list is run as it is. */
  readonly entrypoint: string | string[];
  readonly hyperparameters: HyperparameterSpace;
  readonly searcher: SearcherConfig;
  /** The actions on lines of its trials' logs. */
  readonly log_policies: LogPolicy[];
  /** Days after its end, -1 forever; null for as many as the cluster says. */
  readonly retention_policy: {
    readonly log_retention_days: number | null;
    /** The days for which measurements are kept: points and system samples. */
    readonly metric_retention_days: number | null;
    /** The same for groups that are kept longer or shorter. */
    readonly group_retention_days: Readonly<Record<string, number>>;
  };
  /** A trial is stopped as soon as one of them says so. */
  readonly early_stopping: EarlyStoppingPolicy[];
  readonly resources: {
    readonly slots_per_trial: number;
    /** Lower is placed first; null for the default of the pool. */
    readonly priority: number | null;
    readonly resource_pool: string;
    /** The share of the experiment beside others, where the pool shares its slots fairly. */
    readonly weight: number;
    /** The most slots that all its runs hold together; null for no limit. */
    readonly max_slots: number | null;
    /** Seconds after which a run is stopped and its trial continues with another one; null for no limit. */
    readonly time_limit: number | null;
    /** All slots of a trial are on one agent. */
    readonly is_single_node: boolean;
    /** Absent where runs may be placed everywhere in the pool. */
    readonly constraints?: PlaceConstraints;
  };
  /** Seconds that a run which is stopped to make room for others has to write a checkpoint. */
  readonly preemption_timeout: number;
  readonly max_restarts: number;
  readonly checkpoint_storage: CheckpointStorage;
  /** Absent where TensorBoard files go to the storage of the checkpoints: `tensorboardStorage` says which. */
  readonly tensorboard_storage?: StoragePlace;
  readonly environment: { readonly environment_variables: VariablesByDevice };
  /** null until somebody draws one: `withSeed`. */
  readonly reproducibility: { readonly experiment_seed: number | null };
  /** The section as it was written, if it was: the SDK reads it. */
  readonly profiling?: { readonly enabled?: boolean };
  readonly data: JsonObject;
  readonly debug: boolean;
};

/** The space of a searcher. */
export function hyperparameterSpace(config: NormalisedConfig): HyperparameterSpace {
  return config.hyperparameters;
}

export function tensorboardStorage(config: NormalisedConfig): StoragePlace {
  return config.tensorboard_storage ?? config.checkpoint_storage;
}

export function withSeed(config: NormalisedConfig, seed: number): NormalisedConfig {
  return { ...config, reproducibility: { ...config.reproducibility, experiment_seed: seed } };
}
