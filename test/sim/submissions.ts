import type { EventData } from "@trainyard/contracts";
import type { NormalisedConfig, SearcherConfig } from "@trainyard/experiment-config";
import { recordedConfig } from "@trainyard/experiment-config/recorded";
import type { Chance } from "./chance.ts";

export type Submission = { readonly config: NormalisedConfig; readonly seed: number };

/** More trials than one commit may advance (`streamsPerPart` of libs/runtime). */
const wideTrials = 140;

/** A trial asks for no more slots than `slotsMax`. */
export function drawSubmissions(chance: Chance, slotsMax: number): readonly Submission[] {
  return Array.from({ length: chance.between(1, 3) }, () => ({
    config: configOf(drawSearcher(chance), chance.between(0, 3), chance.between(0, slotsMax)),
    seed: chance.between(0, 1_000_000),
  }));
}

function drawSearcher(chance: Chance): SearcherConfig {
  return chance.pick<SearcherConfig>([
    random(chance.between(2, 8), chance.between(0, 3)),
    { name: "grid", ...common, max_concurrent_trials: chance.between(1, 3) },
    { name: "single", ...common },
    halving(chance),
    population(chance),
  ]);
}

/** A halving search in either form; each rung takes one or two validations (`training.ts`). */
function halving(chance: Chance): SearcherConfig {
  const max_concurrent_trials = chance.between(1, 3);
  return {
    name: "asha",
    ...common,
    max_trials: chance.between(2, 8),
    max_time: chance.between(2, 5) * 10,
    min_time: 10,
    time_metric: "",
    divisor: 2,
    max_concurrent_trials,
    resume: chance.happens(0.7),
  };
}

/**
 * A population search: an interval is one or two validations (`training.ts`); other values are the platform's defaults.
 */
function population(chance: Chance): SearcherConfig {
  const population_size = chance.between(2, 5);
  return {
    name: "pbt",
    ...common,
    population_size,
    max_concurrent_trials: chance.pick([0, 0, 2]),
    time_metric: "",
    max_time: chance.between(3, 6) * 10,
    interval: chance.between(1, 2) * 10,
    burn_in: 0,
    quantile: 0.5,
    exploit: chance.pick(["truncation", "tournament"]),
    resample_probability: 0.25,
    perturb_factors: [0.8, 1.2],
    mutate: [],
    max_trials: population_size + chance.between(0, 8),
  };
}

const common = { metric: "loss", smaller_is_better: true };

export function random(max_trials: number, max_concurrent_trials: number): SearcherConfig {
  return { name: "random", ...common, max_trials, max_concurrent_trials };
}

export const grid: SearcherConfig = { name: "grid", ...common, max_concurrent_trials: 2 };
export const single: SearcherConfig = { name: "single", ...common };
/** A search with one trial, whose values decide when it ends. */
export const halvingOfOne: SearcherConfig = {
  name: "asha",
  ...common,
  max_trials: 1,
  max_time: 40,
  min_time: 10,
  time_metric: "",
  divisor: 2,
  max_concurrent_trials: 1,
  resume: true,
};
export const wide: SearcherConfig = random(wideTrials, wideTrials);

/** The place of every simulated experiment. */
export const defaultPlace = {
  workspace: "default",
  project: "default",
  workspaceId: "default",
  projectId: "default",
};

export function configOf(
  searcher: SearcherConfig,
  max_restarts: number,
  slots_per_trial = 1,
): NormalisedConfig {
  return {
    name: "sim",
    description: "",
    labels: [],
    workspace: "",
    project: "",
    entrypoint: "python3 train.py",
    hyperparameters: {
      lr: { type: "log", minval: -4, maxval: -1, base: 10, count: 3 },
      units: { type: "int", minval: 1, maxval: 64, count: 2 },
    },
    searcher,
    early_stopping: [],
    log_policies: [],
    retention_policy: {
      log_retention_days: null,
      metric_retention_days: null,
      group_retention_days: {},
    },
    resources: recordedConfig({ resources: { slots_per_trial } }).resources,
    preemption_timeout: 3_600,
    max_restarts,
    checkpoint_storage: {
      type: "directory",
      container_path: "/checkpoints",
      save_experiment_best: 0,
      save_trial_best: 1,
      save_trial_latest: 1,
    },
    environment: { environment_variables: { cpu: [], cuda: [], rocm: [] } },
    reproducibility: { experiment_seed: null },
    data: {},
    debug: false,
  };
}

type ConfigDocument = NonNullable<EventData<"ExperimentCreated">["config"]>;

/** Returns the configuration in its submitted form: plain JSON, which is wider than the configuration's type. */
export function documentOf(config: NormalisedConfig): ConfigDocument {
  return JSON.parse(JSON.stringify(config)) as ConfigDocument;
}
