/**
 * The descriptions of keys for editors: one sentence per path in the exported JSON Schema. Keys without effect are
 * described by warnings instead.
 */
import { isMapping, type Json, type JsonObject, keyPath } from "./json.ts";

const document: Readonly<Record<string, string>> = {
  name: "The name of the experiment, for people.",
  description: "What the experiment is about.",
  labels: "Texts to find the experiment by.",
  workspace: "The workspace that the experiment belongs to; quotas of pools count by it.",
  project: "The project within the workspace.",
  data: "Any mapping, which the training code reads as it is.",
  entrypoint: "The command that each trial runs in the folder of its code.",
  hyperparameters: "The space of the search: constants, ranges, choices, and groups of them.",
  searcher: "How the space is searched. docs/howto/choose-a-searcher.md compares the searchers.",
  early_stopping: "Policies that stop trials, or end the search, before their time.",
  resources: "What each trial needs, and where it may run.",
  max_restarts: "How often a trial is run again after its run has failed. Default 5.",
  preemption_timeout: "The time to save a checkpoint when a run makes room for others, such as 5m.",
  checkpoint_storage: "Where checkpoints are stored, and how many are kept.",
  tensorboard_storage:
    "Where TensorBoard files are stored. Default: the storage of the checkpoints.",
  environment: "Variables, and the container image, of each run.",
  profiling: "Whether the use of processors, memory and GPUs is recorded.",
  reproducibility: "Seeds.",
  bind_mounts: "Folders of the host that a container sees.",
  checkpoint_policy: "When the Trainer of trainyard.pytorch stores checkpoints: best, all or none.",
  min_validation_period: "How often the Trainer of trainyard.pytorch validates.",
  min_checkpoint_period: "How often the Trainer of trainyard.pytorch stores a checkpoint.",
  log_policies: "What happens when a line of the log matches a pattern.",
};

const searcher: Readonly<Record<string, string>> = {
  name: "The searcher; auto unless something else is needed.",
  metric: "The name of the validation metric by which trials are compared.",
  smaller_is_better: "Whether a smaller value of the metric is better. Default true.",
  constraints: "Expressions that the hyperparameters of each trial satisfy, such as a < b.",
  warm_start: "What the search starts with.",
  "warm_start.points": "Hyperparameters that are tried first, in this order.",
  "warm_start.experiments": "Numbers of earlier experiments, whose trials the model learns from.",
  "warm_start.max_trials": "The most trials of earlier experiments that are learned from.",
  max_failures: "The search has failed once so many of its trials have. Default: no limit.",
  source_trial_id: 'Trials start from the latest checkpoint of this trial, such as "12.3".',
  source_checkpoint_uuid: "Trials start from this checkpoint.",
  max_trials: "How many trials the search has.",
  divisor: "One in this many trials of a rung continues to the next rung.",
  max_time: "Where the longest trials end, in units of time_metric.",
  min_time: "The first rung, in units of time_metric. Default max_time / divisor³.",
  time_metric: "The name of the reported value that counts as time. Default: the training step.",
  max_concurrent_trials: "How many trials train at one time. Default 16.",
  objectives: "Several metrics of equal weight; the first is the metric.",
  "objectives.metric": "The name of a validation metric.",
  "objectives.smaller_is_better": "Whether a smaller value of it is better. Default true.",
  multivariate: "One model of all hyperparameters together, and not one of each. Default true.",
  resume: "Suspend trials at rungs and resume the best (true), or stop the others at once (false).",
  stop_once: "Determined's opposite of resume.",
  mode: "How many brackets there are: aggressive, standard or conservative. Default standard.",
  max_rungs: "The most rungs of a bracket. Default 5.",
  bracket_rungs: "The number of rungs of each bracket. Default: by the mode.",
  num_rungs: "The number of rungs.",
  population_size: "How many members the population has. Default 16.",
  interval: "How long a member trains between two comparisons. Default max_time / 20.",
  burn_in: "No member is compared before this time. Default 0.",
  quantile: "The share of members that copy, and that are copied. Default 0.25.",
  exploit: "How a donor is chosen: truncation or tournament. Default truncation.",
  resample_probability: "How likely a hyperparameter is drawn again, not perturbed. Default 0.25.",
  perturb_factors: "A perturbed number is multiplied by one of these. Default 0.8 and 1.2.",
  mutate: "The hyperparameters that copies change. Default: all.",
  schedule: "The segments of the training, one after the other.",
  "schedule.until": "The time until which the hyperparameters of the segment hold.",
  "schedule.hyperparameters": "The hyperparameters of the segment.",
  "schedule.seed": "The seed of the segment's trial.",
};

const resources: Readonly<Record<string, string>> = {
  slots_per_trial: "How many slots (GPUs, or CPU slots) each trial trains on. Default 1.",
  priority: "1 to 99; lower is placed first.",
  resource_pool: "The pool that runs the trials. Default: default.",
  max_slots: "The most slots that all trials of the experiment hold together.",
  weight: "The experiment's part of the slots in a pool with fair_share. Default 1.",
  is_single_node: "All slots of a trial are on one agent. Default false.",
  shm_size: "Shared memory of a container, such as 4 GiB.",
  time_limit: "A run is stopped gracefully after this time, such as 2h, and the trial continues.",
  devices: "Devices of the host that a container sees.",
  constraints: "On which agents trials run.",
  "constraints.device": "A text in the name of each slot's device, such as A100.",
  "constraints.device_memory": "The least memory of each slot's device, such as 40 GiB.",
  "constraints.require": "Labels that an agent needs.",
  "constraints.prefer": "Labels by which agents are preferred.",
  "constraints.forbid": "Labels that an agent must not have.",
  "constraints.exclude_agents": "Names of agents where no trial runs.",
  "constraints.same_label": "All agents of a trial have the same value of this label.",
};

const kept: Readonly<Record<string, string>> = {
  save_experiment_best: "How many of the experiment's best checkpoints are kept. Default 0.",
  save_trial_best: "How many of each trial's best checkpoints are kept. Default 1.",
  save_trial_latest: "How many of each trial's latest checkpoints are kept. Default 1.",
};

const storage: Readonly<Record<string, string>> = {
  type: "The kind of storage: directory, shared_fs, s3 or gcs.",
  container_path: "The folder of the files, for the type directory.",
  host_path: "The shared folder, for the type shared_fs.",
  storage_path: "A folder within host_path.",
  bucket: "The bucket of the object store.",
  prefix: "The first part of each object's name.",
  endpoint_url: "The address of an object store that speaks the protocol of S3.",
};

const hyperparameter: Readonly<Record<string, string>> = {
  type: "const, int, double, log, categorical, or nested for a group with a condition.",
  when: "Other hyperparameters with the values for which this one exists.",
  val: "The constant.",
  minval: "The least value; of log the least exponent.",
  maxval: "The greatest value, included; of log the greatest exponent.",
  count: "How many points a grid has on this axis.",
  step: "The distance of neighbouring values, counted from minval.",
  log: "Search the whole numbers uniformly in their logarithm. Default false.",
  base: "The value is base to the power of an exponent between minval and maxval.",
  vals: "The values to choose from.",
  hyperparameters: "The hyperparameters of the group.",
};

const policy: Readonly<Record<string, string>> = {
  name: "The policy. docs/early-stopping.md explains each.",
  patience: "So many reports without an improvement stop the trial.",
  patience_time: "So long without an improvement stops the trial, in units of time_metric.",
  min_delta: "An improvement is one by more than this. Default 0.",
  min_delta_relative: "An improvement is one by more than this share of the best. Default 0.",
  grace: "Reports before this time are not judged. Default 0.",
  lower: "A value below this stops the trial.",
  upper: "A value above this stops the trial.",
  min_trials: "So many other trials must have come as far. Default 3.",
  percentile: "A trial that is not within the best so many percent is stopped.",
  quantile: "A trial in the lower quantile is stopped. Default 0.25.",
  max_wall_time: "The search ends after this time, in seconds or such as 8h.",
  max_slot_hours: "The search ends when its runs have used so many slot-hours.",
  max_trials: "The search has no more trials than this.",
  any: "Stops a trial if one of these policies does.",
  all: "Stops a trial if all of these policies do.",
};

const under = (
  parent: string,
  keys: Readonly<Record<string, string>>,
): readonly (readonly [string, string])[] =>
  Object.entries(keys).map(([key, sentence]) => [`${parent}.${key}`, sentence]);

/** The descriptions by path; names of the schema's definitions begin with #. */
export const descriptions: ReadonlyMap<string, string> = new Map([
  ...Object.entries(document),
  ...under("searcher", searcher),
  ...under("resources", resources),
  ...under("checkpoint_storage", { ...storage, ...kept }),
  ...under("tensorboard_storage", storage),
  ...under("#hyperparameter", hyperparameter),
  ...under("#early_stopping_policy", policy),
  ["profiling.enabled", "Record the use of processors, memory and GPUs. Default false."],
  ["profiling.begin_on_batch", "The first batch that is recorded. Default 0."],
  ["profiling.end_after_batch", "The last batch that is recorded. Default: the end."],
  ["environment.image", "The container image, one or by the kind of device."],
  ["environment.environment_variables", "Variables such as NAME=value, or by the kind of device."],
  ["reproducibility.experiment_seed", "The seed of the search and its trials. Default: drawn."],
]);

/** Returns the schema with a description at each key that has one. */
export function described(schema: JsonObject): JsonObject {
  const { $defs, ...root } = schema;
  const definitions = isMapping($defs) ? $defs : {};
  return {
    ...(withDescriptions(root, "") as JsonObject),
    $defs: Object.fromEntries(
      Object.entries(definitions).map(([name, one]) => [name, withDescriptions(one, `#${name}`)]),
    ),
  };
}

function withDescriptions(schema: Json, path: string): Json {
  if (Array.isArray(schema)) return schema.map((one) => withDescriptions(one, path));
  if (!isMapping(schema)) return schema;
  const entries = Object.entries(schema).map(([key, value]): [string, Json] => {
    if (key === "properties" && isMapping(value)) return [key, ofProperties(value, path)];
    return [key, inside.has(key) ? withDescriptions(value, path) : value];
  });
  return Object.fromEntries(entries);
}

/** Keywords whose schemas describe the same path, or the items of a list at that path. */
const inside: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf", "items"]);

function ofProperties(properties: JsonObject, path: string): JsonObject {
  const changed = Object.entries(properties).map(([key, value]): [string, Json] => {
    const at = keyPath(path, key);
    const inner = withDescriptions(value, at);
    const description = descriptions.get(at);
    if (description === undefined || !isMapping(inner)) return [key, inner];
    return [key, { description, ...inner }];
  });
  return Object.fromEntries(changed);
}
