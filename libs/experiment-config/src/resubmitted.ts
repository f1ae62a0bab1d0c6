/**
 * Turns a recorded configuration into a document that can be submitted again: with the same defaults it becomes the
 * same configuration. On another cluster the checkpoints belong into that cluster's storage, unless the submission
 * named one.
 */
import { isMapping, type Json, type JsonObject, mappingAt, valueAt, without } from "./json.ts";

const placesMayBeEmpty = ["storage_path", "prefix"];

/**
 * Some sections record an empty text, an empty list or 0 for an absent value, which a document may not contain, and the
 * default workspace and project are recorded as empty texts. Only these are removed: elsewhere an empty value may be
 * the user's. `defaulted` has the paths of the recorded configuration that its submission did not contain: those of the
 * checkpoint storage are the cluster's own, and are removed too.
 */
export function resubmitted(recorded: JsonObject, defaulted: readonly string[] = []): JsonObject {
  const { searcher, resources, tensorboard_storage } = recorded;
  const own = withoutEmpty(withoutClusterStorage(recorded, defaulted), ["workspace", "project"]);
  const { checkpoint_storage } = own;
  return {
    ...own,
    ...(isMapping(searcher) ? { searcher: withoutEmpty(searcher) } : {}),
    ...(isMapping(resources) ? { resources: resourcesAgain(resources) } : {}),
    ...(isMapping(checkpoint_storage)
      ? { checkpoint_storage: withoutEmpty(checkpoint_storage, placesMayBeEmpty) }
      : {}),
    ...(isMapping(tensorboard_storage)
      ? { tensorboard_storage: withoutEmpty(tensorboard_storage, placesMayBeEmpty) }
      : {}),
  };
}

function withoutClusterStorage(recorded: JsonObject, defaulted: readonly string[]): JsonObject {
  const { checkpoint_storage: storage } = recorded;
  if (defaulted.includes("checkpoint_storage")) return without(recorded, ["checkpoint_storage"]);
  if (!isMapping(storage)) return recorded;
  const own = Object.keys(storage).filter((key) => defaulted.includes(`checkpoint_storage.${key}`));
  return { ...recorded, checkpoint_storage: without(storage, own) };
}

function withoutEmpty(section: JsonObject, only = Object.keys(section)): JsonObject {
  const empty = (value: Json | undefined): boolean =>
    value === "" || value === 0 || (Array.isArray(value) && value.length === 0);
  return without(
    section,
    only.filter((key) => empty(section[key])),
  );
}

/** A label that a rule names without values is recorded with an empty list, and written as `true`. */
function resourcesAgain(resources: JsonObject): JsonObject {
  const constraints = valueAt(resources, "constraints");
  if (!isMapping(constraints)) return resources;
  const rules = ["require", "prefer", "forbid"].flatMap((rule) => {
    const labels = Object.entries(mappingAt(constraints, rule));
    if (labels.length === 0) return [];
    const written = labels.map(([label, values]): [string, Json] => [label, isAny(values)]);
    return [[rule, Object.fromEntries(written)]] as const;
  });
  const rest = withoutEmpty(without(constraints, ["require", "prefer", "forbid"]));
  return { ...resources, constraints: { ...rest, ...Object.fromEntries(rules) } };
}

function isAny(values: Json): Json {
  return Array.isArray(values) && values.length === 0 ? true : values;
}
