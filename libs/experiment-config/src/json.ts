/** Readers of any JSON: each returns the fallback if the value is absent or of another type. */
import { isMapping, type Json, type JsonObject } from "@trainyard/kernel";

export { isMapping, type Json, type JsonObject } from "@trainyard/kernel";

/** Returns the value of the mapping's key, never a property of its prototype. */
export function valueAt(mapping: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(mapping, key) ? mapping[key] : undefined;
}

/** Returns the mapping at a key; an empty mapping for anything else. */
export function mappingAt(mapping: JsonObject, key: string): JsonObject {
  const value = valueAt(mapping, key);
  return isMapping(value) ? value : {};
}

export function textAt(mapping: JsonObject, key: string, otherwise = ""): string {
  const value = valueAt(mapping, key);
  return typeof value === "string" ? value : otherwise;
}

export function numberAt<Otherwise>(
  mapping: JsonObject,
  key: string,
  otherwise: Otherwise,
): number | Otherwise {
  const value = valueAt(mapping, key);
  return typeof value === "number" ? value : otherwise;
}

/** Returns the integer at a key if it is at least 0. */
export function countAt(mapping: JsonObject, key: string, otherwise: number): number {
  const value = valueAt(mapping, key);
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : otherwise;
}

/** Returns the number at a key if it is at least 0. */
export function notNegativeAt(mapping: JsonObject, key: string, otherwise: number): number {
  const number = numberAt(mapping, key, otherwise);
  return number >= 0 ? number : otherwise;
}

export function flagAt(mapping: JsonObject, key: string, otherwise: boolean): boolean {
  const value = valueAt(mapping, key);
  return typeof value === "boolean" ? value : otherwise;
}

/** Returns the texts in the list at a key; an empty list for anything else. */
export function textsAt(mapping: JsonObject, key: string): string[] {
  const value = valueAt(mapping, key);
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

export function numbersAt(mapping: JsonObject, key: string): number[] {
  const value = valueAt(mapping, key);
  return Array.isArray(value) ? value.filter((item) => typeof item === "number") : [];
}

/** Returns the numbers at the keys of `otherwise`, which has the defaults for absent or wrong values. */
export function numbersOr<Key extends string>(
  mapping: JsonObject,
  otherwise: { readonly [K in Key]: number },
): { readonly [K in Key]: number } {
  const entries = Object.entries<number>(otherwise);
  return Object.fromEntries(
    entries.map(([key, number]) => [key, numberAt(mapping, key, number)]),
  ) as { [K in Key]: number };
}

/** Returns the key with its number, or an empty object: for keys that may be absent. */
export function optionalNumber<Key extends string>(
  mapping: JsonObject,
  key: Key,
): { readonly [K in Key]?: number } {
  const value = valueAt(mapping, key);
  return typeof value === "number" ? ({ [key]: value } as { [K in Key]: number }) : {};
}

/** Returns only the given keys of a mapping, in their order. */
export function only(mapping: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = valueAt(mapping, key);
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

/** Returns the known keys of a mapping first, then its unknown keys unchanged. */
export function withRest<Read extends object>(read: Read, mapping: JsonObject): Read {
  return { ...read, ...mapping, ...read };
}

/** Returns the mapping without the given keys. */
export function without(mapping: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(mapping).filter(([key]) => !keys.includes(key)));
}

const plainKey = /^[A-Za-z0-9_-]+$/;

/** Returns a path such as `searcher.max_trials`; an unusual key is quoted: `hyperparameters["a.b"]`. */
export function keyPath(parent: string, key: string): string {
  if (!plainKey.test(key)) return `${parent}[${JSON.stringify(key)}]`;
  return parent === "" ? key : `${parent}.${key}`;
}

/** Returns a path such as `labels[2]`, counted from 0. */
export function itemPath(parent: string, index: number): string {
  return `${parent}[${index}]`;
}

export function pathOf(parts: readonly PropertyKey[], parent = ""): string {
  let path = parent;
  for (const part of parts) {
    path = typeof part === "number" ? itemPath(path, part) : keyPath(path, String(part));
  }
  return path;
}

/** Returns the value with the keys of all mappings sorted, at every depth; lists keep their order. */
export function sortedKeys<Value extends Json>(value: Value): Value;
export function sortedKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => sortedKeys(item));
  if (!isMapping(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sortedKeys(value[key] ?? null)]));
}

/** Returns the description of a wrong value in a message. */
export function describeValue(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  if (typeof value === "string") {
    return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  }
  return String(value);
}
