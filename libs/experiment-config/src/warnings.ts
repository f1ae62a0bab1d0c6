/** Warnings about accepted values that have no effect, or another effect than their name suggests. */
import type { FieldProblem } from "@trainyard/kernel";
import {
  isMapping,
  itemPath,
  type Json,
  type JsonObject,
  keyPath,
  pathOf,
  valueAt,
} from "./json.ts";
import { timeFromLength } from "./searcher/older-length.ts";
import { writtenType } from "./hyperparameters/hyperparameters.ts";
import { eachTyped } from "./hyperparameters/part.ts";
import { isHyperparameterType } from "./hyperparameters/schema.ts";
import { typelessHyperparameters } from "./hyperparameters/typeless.ts";
import { unusedKeys } from "./searcher/schema.ts";
import { pathsOfSecrets, pathsWithoutEffect } from "./sections/without-effect.ts";

const IN_CONTAINERS =
  "takes effect on agents that run containers; a process on its host does not need it";
const NOT_YET = "is accepted and has no effect yet";
const OWN_SECTION =
  "has no effect, as in Determined: the section tensorboard_storage says where TensorBoard files go";
const NO_MOUNT = "has no effect: TensorBoard files have one path, that of the host";
/** The warnings for keys that will never have an effect: each names the replacement. */
const instead: Readonly<Record<string, string>> = {
  min_validation_period:
    "starts no validation by itself: the training code decides when it validates, and the Trainer of trainyard.pytorch uses this value",
  min_checkpoint_period:
    "stores no checkpoint by itself: the training code decides when it writes one, and the Trainer of trainyard.pytorch uses this value",
  checkpoint_policy:
    "writes no checkpoint by itself: the training code decides after which validations it does, and the Trainer of trainyard.pytorch uses this value",
  perform_initial_validation:
    "has no effect: the training code decides whether it validates before it trains",
  scheduling_unit:
    "has no effect: the training code decides how often it reports and asks whether to stop",
  records_per_epoch: "has no effect: the training code counts its epochs itself",
  optimizations: "has no effect: the training code decides how gradients are put together",
  data_layer: "has no effect: the training code reads its data itself",
  slurm: "has no effect: trials do not run under Slurm",
  pbs: "has no effect: trials do not run under PBS",
  security: "has no effect",
  internal: "has no effect",
  "resources.slots":
    "has no effect on an experiment: slots_per_trial says how many slots a trial has",
  "resources.agent_label":
    "has no effect: resource_pool and resources.constraints say where trials run",
  "resources.native_parallel":
    "has no effect: slots_per_trial alone says how many slots a trial trains on",
  bind_mounts: IN_CONTAINERS,
  "environment.image": IN_CONTAINERS,
  "environment.force_pull_image": IN_CONTAINERS,
  "environment.add_capabilities": IN_CONTAINERS,
  "environment.drop_capabilities": IN_CONTAINERS,
  "environment.proxy_ports":
    "opens ports on the agent's host, and no proxy asks who connects: the training code has to",
  "resources.shm_size": IN_CONTAINERS,
  "resources.devices": IN_CONTAINERS,
  "profiling.sync_timings": "has no effect: the profiler times nothing inside of the training loop",
  "checkpoint_storage.container_path":
    "is mounted beside host_path on agents that run containers; the checkpoints have one path, that of the host",
  "checkpoint_storage.propagation":
    "is that of container_path on agents that run containers; a process on its host does not need it",
  "checkpoint_storage.checkpoint_path":
    "has no effect: storage_path says in which folder of host_path checkpoints are",
  "checkpoint_storage.tensorboard_path": OWN_SECTION,
  "tensorboard_storage.container_path": NO_MOUNT,
  "tensorboard_storage.propagation": NO_MOUNT,
  "tensorboard_storage.checkpoint_path": "has no effect: TensorBoard files alone go there",
  "tensorboard_storage.tensorboard_path":
    "has no effect: storage_path says in which folder of host_path TensorBoard files are",
  "searcher.max_length":
    "does not end a trial: it is passed to the training code, which decides how long it trains; max_time ends one",
  "searcher.unit": "has no effect: the targets of the search's client are in time_metric",
};

export function warningsOf(document: JsonObject): readonly FieldProblem[] {
  const warnings = pathsWithoutEffect.flatMap((path) => noteKey(path, document));
  noteUnusedKeys(valueAt(document, "searcher"), warnings);
  noteModule(valueAt(document, "entrypoint"), warnings);
  const space = valueAt(document, "hyperparameters") ?? {};
  noteListedHyperparameters(space, "hyperparameters", warnings);
  warnings.push(...typelessHyperparameters(space, "hyperparameters"));
  eachTyped(space, "hyperparameters", (typed, path) => {
    if (writtenType(typed) !== "log" || valueAt(typed, "base") !== 1) return;
    const detail = "is 1, and every power of 1 is 1: the hyperparameter has one value";
    warnings.push({ path: keyPath(path, "base"), detail });
  });
  return warnings;
}

function valueOn(path: readonly string[], document: JsonObject): Json | undefined {
  return path.reduce<Json | undefined>(
    (value, key) => (isMapping(value) ? valueAt(value, key) : undefined),
    document,
  );
}

function noteKey(path: readonly string[], document: JsonObject): FieldProblem[] {
  const value = valueOn(path, document);
  if (value === undefined || asksForNothing(value) || actsAnyway(path, document)) return [];
  const key = pathOf(path);
  const read = key === "searcher.max_length" ? lengthRead(document) : null;
  const detail = read ?? (Object.hasOwn(instead, key) ? (instead[key] ?? NOT_YET) : NOT_YET);
  const secret = pathsOfSecrets.some(
    (hidden) =>
      path.every((part, i) => hidden[i] === part) && valueOn(hidden, document) !== undefined,
  );
  return [{ path: key, detail: secret ? `${detail}; credentials in it are not stored` : detail }];
}

/** An empty list or mapping requests nothing: some platforms write every key, most of them empty. */
function asksForNothing(value: Json): boolean {
  return Array.isArray(value) || isMapping(value) ? Object.keys(value).length === 0 : false;
}

/** Returns whether a key has an effect after all: container_path does for a directory, but not for shared_fs. */
function actsAnyway(path: readonly string[], document: JsonObject): boolean {
  const [section = "", key] = path;
  return (
    section.endsWith("_storage") &&
    key === "container_path" &&
    valueOn([section, "type"], document) === "directory"
  );
}

/** Returns the longest time that the searcher's length becomes. */
function lengthRead(document: JsonObject): string | null {
  const searcher = valueAt(document, "searcher");
  const time = isMapping(searcher) ? timeFromLength(searcher) : null;
  if (time === null || !isMapping(searcher)) return null;
  const unit = String(valueAt(searcher, "time_metric") ?? time.unit);
  return `is read as max_time: ${time.length} and time_metric: ${unit}`;
}

function noteUnusedKeys(searcher: Json | undefined, warnings: FieldProblem[]): void {
  if (!isMapping(searcher)) return;
  const name = valueAt(searcher, "name");
  for (const key of unusedKeys(name)) {
    if (valueAt(searcher, key) === undefined) continue;
    const detail = `has no effect: the searcher ${String(name)} does not use it`;
    warnings.push({ path: keyPath("searcher", key), detail });
  }
}

/** Determined's launchers that exist in the SDK under the same name. */
const sameName = /^determined\.launch\.(torch_distributed|wrap_rank)$/;
const launchers: readonly string[] = ["torch", "torch_distributed", "deepspeed", "wrap_rank"];

/** Warns of Determined's launchers: they are in its package, which trials of this platform do not have. */
function noteModule(entrypoint: Json | undefined, warnings: FieldProblem[]): void {
  const words = Array.isArray(entrypoint) ? entrypoint.join(" ") : entrypoint;
  if (typeof words !== "string") return;
  const launcher = /(?:^|\s)-m\s+trainyard\.launch\.(\w+)(?=\s|$)/.exec(words)?.[1];
  if (launcher !== undefined && !launchers.includes(launcher)) {
    const detail = `runs trainyard.launch.${launcher}, which does not exist; write trainyard.launch.torch, which starts a process for each slot`;
    warnings.push({ path: "entrypoint", detail });
  }
  const module = /(?:^|\s)-m\s+(determined(?:\.\w+)*)(?=\s|$)/.exec(words)?.[1];
  if (module === undefined) return;
  const ours = sameName.exec(module)?.[1];
  const instead =
    ours === undefined
      ? "docs/howto/port-from-determined.md names the replacement"
      : `write trainyard.launch.${ours}`;
  const detail = `runs ${module}, a module of Determined's that trials do not have here; ${instead}`;
  warnings.push({ path: "entrypoint", detail });
}

/** Warns of typed hyperparameters in a list: a list is one constant, in Determined too. */
function noteListedHyperparameters(value: Json, path: string, warnings: FieldProblem[]): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      if (isHyperparameterType(writtenType(item))) {
        const detail = "is inside a list, which is passed on unchanged: it is not searched";
        warnings.push({ path: itemPath(path, index), detail });
      }
    }
  } else if (isMapping(value) && writtenType(value) === "nested") {
    const inside = valueAt(value, "hyperparameters") ?? {};
    noteListedHyperparameters(inside, keyPath(path, "hyperparameters"), warnings);
  } else if (isMapping(value) && writtenType(value) === null) {
    for (const [key, item] of Object.entries(value)) {
      noteListedHyperparameters(item, keyPath(path, key), warnings);
    }
  }
}
