/**
 * The user's configuration over the cluster's defaults, by Determined's rules: mappings are merged key by key and
 * everything else is the user's, except
 * - hyperparameters: only nests are merged, a hyperparameter is replaced whole;
 * - searcher and checkpoint_storage: the keys of one kind are not mixed into another kind, the common ones are;
 * - labels and capabilities are united; bind mounts, devices, proxied ports and log policies are united by what makes
 *   each of them one (container path, port, name); environment variables likewise, by device and name.
 */
import { isMapping, type Json, type JsonObject, valueAt } from "./json.ts";
import { writtenType } from "./schema/hyperparameters.ts";

type Rule = (mine: Json, theirs: Json) => Json;

export function mergeConfigs(mine: JsonObject, theirs: JsonObject): JsonObject {
  return mergeMappings(mine, theirs, "");
}

const rules: Readonly<Record<string, Rule>> = {
  hyperparameters: mergeHyperparameters,
  searcher: mergeKinds("name", [
    "metric",
    "smaller_is_better",
    "source_trial_id",
    "source_checkpoint_uuid",
  ]),
  checkpoint_storage: mergeKinds("type", [
    "save_experiment_best",
    "save_trial_best",
    "save_trial_latest",
  ]),
  labels: (mine, theirs) => unite(labelsOf(mine), labelsOf(theirs), (label) => label),
  bind_mounts: uniteBy("container_path"),
  log_policies: uniteBy("name"),
  "resources.devices": (mine, theirs) => unite(asList(mine), asList(theirs), deviceKey),
  "environment.proxy_ports": uniteBy("proxy_port"),
  "environment.add_capabilities": (mine, theirs) =>
    unite(asList(mine), asList(theirs), (one) => one),
  "environment.drop_capabilities": (mine, theirs) =>
    unite(asList(mine), asList(theirs), (one) => one),
  "environment.environment_variables": mergeVariables,
};

function mergeMappings(mine: JsonObject, theirs: JsonObject, path: string): JsonObject {
  const merged: JsonObject = { ...theirs };
  for (const [key, value] of Object.entries(mine)) {
    const other = valueAt(theirs, key);
    merged[key] =
      other === undefined ? value : mergeValues(value, other, path === "" ? key : `${path}.${key}`);
  }
  return merged;
}

function mergeValues(mine: Json, theirs: Json, path: string): Json {
  const rule = Object.hasOwn(rules, path) ? rules[path] : undefined;
  if (rule !== undefined) return rule(mine, theirs);
  return isMapping(mine) && isMapping(theirs) ? mergeMappings(mine, theirs, path) : mine;
}

function mergeHyperparameters(mine: Json, theirs: Json): Json {
  if (!isNest(mine) || !isNest(theirs)) return mine;
  const merged: JsonObject = { ...theirs };
  for (const [key, value] of Object.entries(mine)) {
    const other = valueAt(theirs, key);
    merged[key] = other === undefined ? value : mergeHyperparameters(value, other);
  }
  return merged;
}

function isNest(value: Json): value is JsonObject {
  return isMapping(value) && writtenType(value) === null;
}

function mergeKinds(kind: string, common: readonly string[]): Rule {
  return (mine, theirs) => {
    if (!isMapping(mine) || !isMapping(theirs)) return mine;
    const same = valueAt(mine, kind) === undefined || mine[kind] === valueAt(theirs, kind);
    const inherited = Object.entries(theirs).filter(
      ([key]) => same || (key !== kind && common.includes(key)),
    );
    return { ...Object.fromEntries(inherited), ...mine };
  };
}

function asList(value: Json): Json[] {
  return Array.isArray(value) ? value : [value];
}

/** Mine, then those of theirs that none of mine stands for. */
function unite(mine: Json[], theirs: Json[], keyOf: (item: Json) => Json): Json[] {
  const keys = new Set(mine.map((item) => JSON.stringify(keyOf(item))));
  return [...mine, ...theirs.filter((item) => !keys.has(JSON.stringify(keyOf(item))))];
}

function uniteBy(key: string): Rule {
  const keyOf = (item: Json): Json => (isMapping(item) ? (valueAt(item, key) ?? item) : item);
  return (mine, theirs) => unite(asList(mine), asList(theirs), keyOf);
}

/** `/dev/host:/dev/container:mode` or the mapping of the three. */
function deviceKey(device: Json): Json {
  if (typeof device === "string") return device.split(":")[1] ?? device;
  return isMapping(device) ? (valueAt(device, "container_path") ?? device) : device;
}

/** A list of labels, or Determined's older mapping with the labels as keys. */
export function labelsOf(value: Json): Json[] {
  if (!isMapping(value)) return asList(value);
  return Object.keys(value).filter((label) => value[label] !== false);
}

const devices = ["cpu", "cuda", "rocm"] as const;
export type VariablesByDevice = { cpu: string[]; cuda: string[]; rocm: string[] };

/** One list means every kind of device; `gpu` is the older name of `cuda`. Of a name given twice the later one stands. */
export function variablesByDevice(value: Json | undefined): VariablesByDevice {
  const listFor = (device: (typeof devices)[number]): string[] => {
    if (!isMapping(value)) return lastOfEachName(value);
    const own = valueAt(value, device);
    return lastOfEachName(device === "cuda" ? (own ?? valueAt(value, "gpu")) : own);
  };
  return { cpu: listFor("cpu"), cuda: listFor("cuda"), rocm: listFor("rocm") };
}

const nameOf = (variable: string): string => variable.slice(0, Math.max(0, variable.indexOf("=")));

function lastOfEachName(value: Json | undefined): string[] {
  const texts = Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
  const last = new Map<string, string>();
  for (const variable of texts) {
    last.delete(nameOf(variable));
    last.set(nameOf(variable), variable);
  }
  return [...last.values()];
}

function mergeVariables(mine: Json, theirs: Json): Json {
  // A wrong shape is left for the schema to refuse, at the path that the user wrote.
  const lists = isMapping(mine) ? Object.values(mine) : [mine];
  const texts = (list: Json): boolean =>
    Array.isArray(list) && list.every((item) => typeof item === "string");
  if (!lists.every(texts)) return mine;
  const ours = variablesByDevice(mine);
  const others = variablesByDevice(theirs);
  const united = (device: (typeof devices)[number]): Json[] =>
    unite(ours[device], others[device], (variable) => nameOf(String(variable)));
  return { cpu: united("cpu"), cuda: united("cuda"), rocm: united("rocm") };
}
