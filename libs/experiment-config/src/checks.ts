/**
 * What no schema of a single key can say: what has to be there once the defaults are merged in, what does not fit
 * together, and what is well formed but does not run here. Each check looks only at what has the right type and leaves
 * the rest to the schema, so that all problems of a document are told at once.
 */
import type { FieldProblem } from "@trainyard/kernel";
import { isMapping, itemPath, type Json, type JsonObject, keyPath, valueAt } from "./json.ts";
import { runningStorages, storages } from "./schema/checkpoint-storage.ts";
import { isHyperparameterType, writtenType } from "./schema/hyperparameters.ts";
import {
  runningSearchers,
  type SearcherName,
  searchers,
  withdrawnSearchers,
} from "./schema/searcher.ts";

export type Note = (path: string, detail: string) => void;

export function checkDocument(document: JsonObject): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  const note: Note = (path, detail) => problems.push({ path, detail });
  checkEntrypoint(valueAt(document, "entrypoint"), note);
  checkSearcher(valueAt(document, "searcher"), note);
  checkStorage(valueAt(document, "checkpoint_storage"), note);
  checkHyperparameters(document, note);
  checkProfiling(valueAt(document, "profiling"), note);
  checkLogPolicies(valueAt(document, "log_policies"), note);
  return problems;
}

/** `model_def:Trial`: Determined's way to name a class, which its own last release refuses too. */
const legacyEntrypoint = /^[A-Za-z0-9_.]+:[A-Za-z0-9_]+$/;

function checkEntrypoint(entrypoint: Json | undefined, note: Note): void {
  if (entrypoint === undefined) {
    note("entrypoint", 'is missing: it is the command that trains, for example "python3 train.py"');
  } else if (typeof entrypoint === "string" && legacyEntrypoint.test(entrypoint.trim())) {
    note(
      "entrypoint",
      `names a trial class (${entrypoint}), which is not run any more; give the command that trains, for example "python3 train.py"`,
    );
  } else if (typeof entrypoint === "string" && entrypoint !== "" && entrypoint.trim() === "") {
    note("entrypoint", "is blank: it is the command that trains");
  }
}

const needed: Partial<Record<SearcherName, readonly string[]>> = {
  random: ["max_trials"],
  sobol: ["max_trials"],
};

function checkSearcher(searcher: Json | undefined, note: Note): void {
  if (searcher === undefined) {
    note(
      "searcher",
      "is missing: it says how to search, for example {name: single, metric: validation_loss}",
    );
  }
  if (!isMapping(searcher)) return;
  const name = valueAt(searcher, "name");
  if (typeof name === "string" && Object.hasOwn(searchers, name)) {
    checkSearcherName(name as SearcherName, note);
    for (const key of needed[name as SearcherName] ?? []) {
      if (valueAt(searcher, key) === undefined) {
        note(keyPath("searcher", key), `is missing: the searcher ${name} needs it`);
      }
    }
  }
  if (valueAt(searcher, "metric") === undefined) {
    note(
      "searcher.metric",
      "is missing: it is the name of the validation metric that the search compares",
    );
  }
}

function checkSearcherName(name: SearcherName, note: Note): void {
  if (runningSearchers.includes(name)) return;
  const remedy = withdrawnSearchers[name];
  const supported = runningSearchers.join(", ");
  note(
    "searcher.name",
    remedy === undefined
      ? `is ${name}, which does not run in this version; ${supported} do`
      : `is ${name}, which has been withdrawn; ${remedy} instead (${supported} run in this version)`,
  );
}

function checkStorage(storage: Json | undefined, note: Note): void {
  if (storage === undefined) {
    note(
      "checkpoint_storage",
      "is missing and the cluster has no default: say where checkpoints go, for example {type: directory, container_path: /checkpoints}",
    );
  }
  if (!isMapping(storage)) return;
  const type = valueAt(storage, "type");
  const path = type === "directory" ? "container_path" : type === "shared_fs" ? "host_path" : null;
  if (path !== null && valueAt(storage, path) === undefined) {
    note(
      keyPath("checkpoint_storage", path),
      `is missing: checkpoints of the type ${type} lie there`,
    );
  }
  const known = typeof type === "string" && Object.hasOwn(storages, type);
  if (known && !runningStorages.some((running) => running === type)) {
    note(
      "checkpoint_storage.type",
      `is ${type}, to which this version does not write checkpoints; ${runningStorages.join(" and ")} work`,
    );
  }
  if (type === "shared_fs") checkStoragePath(storage, note);
}

/** Determined's rule: relative to host_path without leaving it, or absolute and below it. */
function checkStoragePath(storage: JsonObject, note: Note): void {
  const host = valueAt(storage, "host_path");
  const path = valueAt(storage, "storage_path");
  if (typeof host !== "string" || typeof path !== "string") return;
  const inside = path.startsWith("/")
    ? `${resolved(path)}/`.startsWith(`${resolved(host)}/`.replace("//", "/"))
    : resolved(path) !== null;
  if (!inside || resolved(path) === null) {
    note(
      "checkpoint_storage.storage_path",
      `must be a relative folder that stays below host_path, or an absolute one below ${host}`,
    );
  }
}

/** The path without `.`, `..` and doubled slashes; null when it climbs above where it starts. */
function resolved(path: string): string | null {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined && !path.startsWith("/")) return null;
  }
  return (path.startsWith("/") ? "/" : "") + parts.join("/");
}

function checkHyperparameters(document: JsonObject, note: Note): void {
  const space = valueAt(document, "hyperparameters");
  if (!isMapping(space)) return;
  const searcher = valueAt(document, "searcher");
  const grid = isMapping(searcher) && valueAt(searcher, "name") === "grid";
  for (const [key, value] of Object.entries(space)) {
    checkHyperparameter(value, keyPath("hyperparameters", key), grid, note);
  }
}

function checkHyperparameter(value: Json, path: string, grid: boolean, note: Note): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      if (isMapping(item)) checkHyperparameter(item, itemPath(path, index), grid, note);
    }
    return;
  }
  if (!isMapping(value)) return;
  const type = writtenType(value);
  if (type === null) {
    for (const [key, item] of Object.entries(value)) {
      checkHyperparameter(item, keyPath(path, key), grid, note);
    }
  } else if (isHyperparameterType(type) && type !== "const" && type !== "categorical") {
    checkRange(value, path, note);
    if (grid && valueAt(value, "count") === undefined) {
      note(
        keyPath(path, "count"),
        "is missing: a grid search needs the number of points on each axis",
      );
    }
  }
}

/** Beyond these a double loses precision or ends. */
const POWER_MIN = 1e-300;
const POWER_MAX = 1e300;

function checkRange(range: JsonObject, path: string, note: Note): void {
  const minval = valueAt(range, "minval");
  const maxval = valueAt(range, "maxval");
  if (typeof minval !== "number" || typeof maxval !== "number") return;
  if (minval >= maxval) {
    note(keyPath(path, "minval"), `must be less than maxval: ${minval} is not less than ${maxval}`);
  } else if (!Number.isFinite(maxval - minval)) {
    note(keyPath(path, "maxval"), "is too far from minval: the difference is not a finite number");
  }
  const base = valueAt(range, "base");
  if (range["type"] !== "log" || typeof base !== "number" || base <= 0) return;
  for (const [key, exponent] of [["minval", minval] as const, ["maxval", maxval] as const]) {
    const power = base ** exponent;
    if (power < POWER_MIN || power > POWER_MAX) {
      note(
        keyPath(path, key),
        `is an exponent: ${base} to the power of ${exponent} is not a number that can be used`,
      );
    }
  }
}

function checkProfiling(profiling: Json | undefined, note: Note): void {
  if (!isMapping(profiling)) return;
  const begin = valueAt(profiling, "begin_on_batch");
  const end = valueAt(profiling, "end_after_batch");
  if (typeof begin === "number" && typeof end === "number" && begin > end) {
    note(
      "profiling.begin_on_batch",
      `must not be greater than end_after_batch: ${begin} is greater than ${end}`,
    );
  }
}

/** Policies are merged by name; those from before names were introduced have a pattern instead. */
function checkLogPolicies(policies: Json | undefined, note: Note): void {
  if (!Array.isArray(policies)) return;
  for (const [index, policy] of policies.entries()) {
    if (!isMapping(policy)) continue;
    if (valueAt(policy, "name") === undefined && valueAt(policy, "pattern") === undefined) {
      note(keyPath(itemPath("log_policies", index), "name"), "is missing");
    }
  }
}
