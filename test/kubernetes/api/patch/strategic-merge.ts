// Patches of content type application/strategic-merge-patch+json: lists of items with a key are merged by it, and the
// directives $patch, $retainKeys, $deleteFromPrimitiveList and $setElementOrder say the rest. Source: docs, "Update API
// Objects in Place Using kubectl patch"; API conventions, "Strategic Merge Patch".
import { badRequest } from "../fault.ts";
import type { ListSchema, Schema } from "../schemas/schema.ts";

type Fields = Record<string, unknown>;

const DELETE_PRIMITIVES = "$deleteFromPrimitiveList/";
const ORDER = "$setElementOrder/";

export const applyStrategicMerge = (document: Fields, patch: Fields, schema: Schema): Fields => {
  const directive = patch.$patch;
  if (directive === "replace") return withoutDirectives(patch);
  if (directive === "delete") return {};
  if (directive !== undefined && directive !== "merge") {
    throw badRequest(`Unknown patch type: ${String(directive)}`);
  }
  const result: Fields = { ...document };
  const kept = patch.$retainKeys;
  if (Array.isArray(kept)) {
    for (const field of Object.keys(result)) if (!kept.includes(field)) delete result[field];
  }
  for (const [field, value] of Object.entries(patch)) {
    if (field === "$patch" || field === "$retainKeys" || field.startsWith(ORDER)) continue;
    if (field.startsWith(DELETE_PRIMITIVES)) {
      const name = field.slice(DELETE_PRIMITIVES.length);
      const gone = new Set(value as unknown[]);
      if (Array.isArray(result[name]))
        result[name] = result[name].filter((item) => !gone.has(item));
      continue;
    }
    const merged =
      value === null ? undefined : mergeField(result[field], value, fieldOf(schema, field));
    if (merged === undefined) delete result[field];
    else result[field] = merged;
  }
  for (const [field, order] of Object.entries(patch)) {
    if (!field.startsWith(ORDER)) continue;
    const name = field.slice(ORDER.length);
    const list = fieldOf(schema, name);
    if (Array.isArray(result[name]) && list?.type === "list") {
      result[name] = inOrder(result[name], order as unknown[], list);
    }
  }
  return result;
};

const fieldOf = (schema: Schema, field: string): Schema | undefined =>
  schema.type === "struct"
    ? schema.fields.get(field)
    : schema.type === "map"
      ? schema.item
      : undefined;

const mergeField = (old: unknown, value: unknown, schema: Schema | undefined): unknown => {
  if (Array.isArray(value)) {
    if (schema?.type === "list" && schema.patchKey !== null) {
      return mergeList((old ?? []) as Fields[], value as Fields[], schema, schema.patchKey);
    }
    if (schema?.type === "list" && schema.set)
      return [...new Set([...((old ?? []) as unknown[]), ...value])];
    return value;
  }
  if (typeof value !== "object" || value === null) return value;
  const isObject = typeof old === "object" && old !== null && !Array.isArray(old);
  return applyStrategicMerge((isObject ? old : {}) as Fields, value as Fields, schema ?? anything);
};

const anything: Schema = { type: "any", atomic: true };

const mergeList = (old: Fields[], patch: Fields[], schema: ListSchema, key: string): Fields[] => {
  if (patch.some((item) => item.$patch === "replace")) {
    return patch.filter((item) => item.$patch !== "replace").map(withoutDirectives);
  }
  let result = [...old];
  for (const item of patch) {
    const value = item[key];
    if (value === undefined) {
      throw badRequest(`map: map[...] does not contain declared merge key: ${key}`);
    }
    if (item.$patch === "delete") {
      result = result.filter((other) => other[key] !== value);
      continue;
    }
    const at = result.findIndex((other) => other[key] === value);
    if (at < 0) result.push(applyStrategicMerge({}, item, schema.item));
    else result[at] = applyStrategicMerge(result[at] ?? {}, item, schema.item);
  }
  return result;
};

/** Items that the order names come in it; the others keep their place behind the one that they followed. */
const inOrder = (list: unknown[], order: unknown[], schema: ListSchema): unknown[] => {
  const key = schema.patchKey;
  const identity = (item: unknown): unknown => (key === null ? item : (item as Fields)[key]);
  const ranks = order.map(identity);
  const named = list
    .filter((item) => ranks.includes(identity(item)))
    .sort((a, b) => ranks.indexOf(identity(a)) - ranks.indexOf(identity(b)));
  return list.map((item) => (ranks.includes(identity(item)) ? named.shift() : item));
};

const withoutDirectives = (value: Fields): Fields =>
  Object.fromEntries(Object.entries(value).filter(([field]) => !field.startsWith("$")));
