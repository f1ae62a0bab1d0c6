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
import { keysAsWritten, pathsOfSecrets } from "./sections/as-written.ts";

export function warningsOf(document: JsonObject): readonly FieldProblem[] {
  const warnings = keysAsWritten.flatMap(({ path, warning }) => noteKey(path, warning, document));
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

/** Returns the warning about a key, if the document has it and requests something by it. */
export function noteKey(
  path: readonly string[],
  warning: string,
  document: JsonObject,
): FieldProblem[] {
  const value = valueOn(path, document);
  if (value === undefined || asksForNothing(value) || actsAnyway(path, document)) return [];
  const key = pathOf(path);
  const read = key === "searcher.max_length" ? lengthRead(document) : null;
  const detail = read ?? warning;
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
