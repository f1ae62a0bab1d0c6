// Joins an applied configuration with the stored object, and takes fields away that nobody owns any more. Source: docs,
// "Server-Side Apply" (merge strategy); KEP-555.
import type { ListSchema, Schema } from "../schemas/schema.ts";
import { elementsOf, itemElement, join } from "./field-set.ts";

type Fields = Record<string, unknown>;

/** The stored value with the applied one over it. Items keep the order of the store; new ones follow in their own. */
export const mergeApplied = (stored: unknown, applied: unknown, schema: Schema): unknown => {
  if (stored === undefined || stored === null || schema.atomic) return applied;
  if (applied === undefined) return stored;
  if (schema.type === "list") return mergeItems(stored as unknown[], applied as unknown[], schema);
  if (schema.type !== "struct" && schema.type !== "map") return applied;
  const merged: Fields = { ...(stored as Fields) };
  for (const [field, value] of Object.entries((applied ?? {}) as Fields)) {
    const inner = schema.type === "map" ? schema.item : schema.fields.get(field);
    merged[field] = inner ? mergeApplied(merged[field], value, inner) : value;
  }
  return merged;
};

const mergeItems = (stored: unknown[], applied: unknown[], schema: ListSchema): unknown[] => {
  const wanted = new Map(applied.map((item) => [itemElement(item, schema), item]));
  const merged = stored.map((item) => {
    const element = itemElement(item, schema);
    if (!wanted.has(element)) return item;
    const other = wanted.get(element);
    wanted.delete(element);
    return schema.set ? item : mergeApplied(item, other, schema.item);
  });
  // The order of the applied list wins where it says one. Items of others stay where they are among the rest.
  const order = applied.map((item) => itemElement(item, schema));
  const all = [...merged, ...wanted.values()];
  const own = all
    .filter((item) => order.includes(itemElement(item, schema)))
    .sort((a, b) => order.indexOf(itemElement(a, schema)) - order.indexOf(itemElement(b, schema)));
  return all.map((item) => (order.includes(itemElement(item, schema)) ? own.shift() : item));
};

/** The value without the paths; what is empty by that goes, too. */
export const without = (value: unknown, schema: Schema, paths: readonly string[]): unknown => {
  const gone = new Set(paths);
  if (gone.size === 0) return value;
  const ancestors = new Set<string>();
  for (const path of paths) {
    const elements = elementsOf(path);
    for (let length = 1; length < elements.length; length += 1) {
      ancestors.add(elements.slice(0, length).reduce(join, ""));
    }
  }
  return remove(value, schema, "", gone, ancestors);
};

const remove = (
  value: unknown,
  schema: Schema,
  path: string,
  gone: ReadonlySet<string>,
  ancestors: ReadonlySet<string>,
): unknown => {
  if (path !== "" && !ancestors.has(path)) return value;
  const next = (inner: unknown, type: Schema, element: string): unknown => {
    const there = join(path, element);
    return gone.has(there) ? undefined : remove(inner, type, there, gone, ancestors);
  };
  if (schema.type === "list" && Array.isArray(value)) {
    const kept = value
      .map((item) => next(item, schema.item, itemElement(item, schema) ?? ""))
      .filter((item) => item !== undefined);
    return kept.length === 0 ? undefined : kept;
  }
  if ((schema.type === "struct" || schema.type === "map") && typeof value === "object") {
    const kept: Fields = {};
    for (const [field, inner] of Object.entries(value ?? {})) {
      const type = schema.type === "map" ? schema.item : schema.fields.get(field);
      const left = type ? next(inner, type, `f:${field}`) : inner;
      if (left !== undefined) kept[field] = left;
    }
    return Object.keys(kept).length === 0 && path !== "" ? undefined : kept;
  }
  return value;
};
