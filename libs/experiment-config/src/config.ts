/** The configuration as services store and read it: legacy shapes rewritten, every default filled in. */
import type { CustomSearcher } from "./custom.ts";
import type { EarlyStoppingPolicy } from "./early-stopping.ts";
import type { HalvingSearcher } from "./halving.ts";
import type { HyperparameterSpace } from "./hyperparameters.ts";
import type { JsonObject } from "./json.ts";
import type { VariablesByDevice } from "./parts/environment.ts";
import type { PopulationSearcher } from "./population.ts";
import type { WarmStart } from "./warm-start.ts";

/** What narrows the space of any searcher, and what it starts with. */
type Searched = {
  /** What a trial's hyperparameters have to satisfy: `constraints.ts`. */
  readonly constraints?: string[];
  readonly warm_start?: WarmStart;
};
type SearcherCommon = {
  readonly metric: string;
  readonly smaller_is_better: boolean;
  /** Of a searcher that lets its trials train to their ends: where they are stopped, in units of the time metric. */
  readonly max_time?: number;
  /** The name of the value that counts as time; absent for the training step. */
  readonly time_metric?: string;
};

/** Of a searcher that can search by several metrics at once; the first is `metric` with its direction. */
type SeveralObjectives = { readonly objectives?: SearchObjective[] };
export type SearchObjective = { readonly metric: string; readonly smaller_is_better: boolean };

export type SingleSearcher = SearcherCommon & { readonly name: "single" };
export type RandomSearcher = SearcherCommon &
  SeveralObjectives & {
    readonly name: "random";
    readonly max_trials: number;
    /** Trials unended at one time; 0 for no limit. */
    readonly max_concurrent_trials: number;
  };
export type GridSearcher = SearcherCommon &
  SeveralObjectives & {
    readonly name: "grid";
    /** Of the grid's points so many at most, from its end. */
    readonly max_trials?: number;
    readonly max_concurrent_trials: number;
  };
export type SobolSearcher = SearcherCommon &
  SeveralObjectives & {
    readonly name: "sobol";
    readonly max_trials: number;
    readonly max_concurrent_trials: number;
  };
export type TpeSearcher = SearcherCommon &
  SeveralObjectives & {
    readonly name: "tpe";
    readonly max_trials: number;
    readonly max_concurrent_trials: number;
    /** Whether the model is of all hyperparameters together, or of each alone. */
    readonly multivariate: boolean;
  };
export type GpSearcher = SearcherCommon & {
  readonly name: "gp";
  readonly max_trials: number;
  readonly max_concurrent_trials: number;
};
export type SearcherConfig = Searched &
  (
    | SingleSearcher
    | RandomSearcher
    | GridSearcher
    | SobolSearcher
    | TpeSearcher
    | GpSearcher
    | HalvingSearcher
    | CustomSearcher
    | PopulationSearcher
  );

type StorageCommon = {
  readonly save_experiment_best: number;
  readonly save_trial_best: number;
  readonly save_trial_latest: number;
};
export type DirectoryStorage = StorageCommon & {
  readonly type: "directory";
  readonly container_path: string;
};
export type SharedFsStorage = StorageCommon & {
  readonly type: "shared_fs";
  readonly host_path: string;
  /** Below host_path; empty for host_path itself. */
  readonly storage_path: string;
};
export type CheckpointStorage = DirectoryStorage | SharedFsStorage;

/**
 * Keys that are accepted without effect stand beside these where they were written, save those that hold credentials.
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
  /** A trial is stopped as soon as one of them says so. */
  readonly early_stopping: EarlyStoppingPolicy[];
  readonly resources: {
    readonly slots_per_trial: number;
    readonly priority: number;
    readonly resource_pool: string;
  };
  readonly max_restarts: number;
  readonly checkpoint_storage: CheckpointStorage;
  readonly environment: { readonly environment_variables: VariablesByDevice };
  /** null until somebody draws one: `withSeed`. */
  readonly reproducibility: { readonly experiment_seed: number | null };
  readonly data: JsonObject;
  readonly debug: boolean;
};

/** What a searcher searches. */
export function hyperparameterSpace(config: NormalisedConfig): HyperparameterSpace {
  return config.hyperparameters;
}

export function withSeed(config: NormalisedConfig, seed: number): NormalisedConfig {
  return { ...config, reproducibility: { ...config.reproducibility, experiment_seed: seed } };
}

/** The folder on the agents' hosts below which the experiment's checkpoints lie. */
export function checkpointFolder(storage: CheckpointStorage): string {
  if (storage.type === "directory") return storage.container_path;
  if (storage.storage_path.startsWith("/")) return storage.storage_path;
  const host = storage.host_path.replace(/\/+$/, "");
  return storage.storage_path === "" ? storage.host_path : `${host}/${storage.storage_path}`;
}
