/**
 * Kubernetes pods, which are passed on: Determined's forbidden settings, and the merge rule. Merging follows
 * Kubernetes's strategic merge: mappings key by key, and the lists below by the key that names their items; other lists
 * are replaced. Items keep the order of the first pod; items only in the second come before the first item that the
 * second lacks.
 */
import { isMapping, itemPath, type Json, type JsonObject, keyPath, valueAt } from "../json.ts";
import type { Check, Note, Part } from "../parts/part.ts";
import type { Values } from "../parts/values.ts";

const podKeys = ["name", "name_space"];
/** The container settings that the platform sets itself in the training container. */
const containerKeys = [
  "image",
  "command",
  "args",
  "working_dir",
  "ports",
  "env_from",
  "env",
  "liveness_probe",
  "readiness_probe",
  "startup_probe",
  "lifecycle",
  "termination_message_path",
  "termination_message_policy",
  "image_pull_policy",
  "security_context",
];
const trainingContainer = "determined-container";

const camelCase = (key: string): string =>
  key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

function refuseKeys(value: JsonObject, keys: readonly string[], path: string, note: Note): void {
  for (const key of keys.flatMap((one) => [...new Set([one, camelCase(one)])])) {
    if (valueAt(value, key) !== undefined) {
      note(keyPath(path, key), "is not configurable: the platform sets it");
    }
  }
}

const checkPod: Check = (pod, path, note) => {
  if (!isMapping(pod)) return;
  refuseKeys(pod, podKeys, path, note);
  const spec = valueAt(pod, "spec");
  const containers = isMapping(spec) ? valueAt(spec, "containers") : undefined;
  if (!Array.isArray(containers)) return;
  const at = keyPath(keyPath(path, "spec"), "containers");
  for (const [index, container] of containers.entries()) {
    if (isMapping(container) && valueAt(container, "name") === trainingContainer) {
      refuseKeys(container, containerKeys, itemPath(at, index), note);
    }
  }
};

const namedBy: Readonly<Record<string, string>> = {
  containers: "name",
  initContainers: "name",
  ephemeralContainers: "name",
  volumes: "name",
  env: "name",
  imagePullSecrets: "name",
  volumeMounts: "mountPath",
  volumeDevices: "devicePath",
  hostAliases: "ip",
  ports: "containerPort",
  topologySpreadConstraints: "topologyKey",
};
/** Lists of plain values that are united. */
const sets = new Set(["finalizers"]);

function mergePods(mine: Json, theirs: Json, key = ""): Json {
  if (isMapping(mine) && isMapping(theirs)) {
    const merged: JsonObject = { ...theirs };
    for (const [inner, value] of Object.entries(mine)) {
      const other = valueAt(theirs, inner);
      merged[inner] = other === undefined ? value : mergePods(value, other, inner);
    }
    return merged;
  }
  if (!Array.isArray(mine) || !Array.isArray(theirs)) return mine;
  if (sets.has(key)) return [...theirs, ...mine.filter((item) => !theirs.includes(item))];
  const name = namedBy[key];
  return name === undefined ? mine : mergeNamed(mine, theirs, name);
}

function mergeNamed(mine: Json[], theirs: Json[], name: string): Json[] {
  const nameOf = (item: Json): Json => (isMapping(item) ? (valueAt(item, name) ?? null) : item);
  const placeOf = (item: Json): number => theirs.findIndex((one) => nameOf(one) === nameOf(item));
  const names = new Set(mine.map(nameOf));
  const rest = theirs.filter((item) => !names.has(nameOf(item)));
  const merged: Json[] = [];
  for (const item of mine) {
    const place = placeOf(item);
    while (rest.length > 0 && (place < 0 || placeOf(rest[0] ?? null) < place)) {
      merged.push(rest.shift() ?? null);
    }
    merged.push(place < 0 ? item : mergePods(item, theirs[place] ?? null));
  }
  return [...merged, ...rest];
}

export const podSpec = ({ freeMapping }: Values): Part => ({
  schema: freeMapping,
  check: checkPod,
  merge: mergePods,
});
