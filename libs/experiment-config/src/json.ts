/** How JSON of any origin is read: every reader gives the fallback where the value is absent or of another type. */
import { isMapping, type Json, type JsonObject } from "@trainyard/kernel";

export { isMapping, type Json, type JsonObject } from "@trainyard/kernel";

/** An own key's value; never one that the prototype would answer. */
export function valueAt(mapping: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(mapping, key) ? mapping[key] : undefined;
}

/** The mapping at a key; an empty one for anything else. */
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

/** A whole number of at least 0. */
export function countAt(mapping: JsonObject, key: string, otherwise: number): number {
  const value = valueAt(mapping, key);
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : otherwise;
}

/** A number of at least 0. */
export function notNegativeAt(mapping: JsonObject, key: string, otherwise: number): number {
  const number = numberAt(mapping, key, otherwise);
  return number >= 0 ? number : otherwise;
}

export function flagAt(mapping: JsonObject, key: string, otherwise: boolean): boolean {
  const value = valueAt(mapping, key);
  return typeof value === "boolean" ? value : otherwise;
}

/** The items of the list at a key that are texts; none for anything else. */
export function textsAt(mapping: JsonObject, key: string): string[] {
  const value = valueAt(mapping, key);
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

export function numbersAt(mapping: JsonObject, key: string): number[] {
  const value = valueAt(mapping, key);
  return Array.isArray(value) ? value.filter((item) => typeof item === "number") : [];
}

/** The numbers at the keys of `otherwise`, each the default for one that is absent or no number. */
export function numbersOr<Key extends string>(
  mapping: JsonObject,
  otherwise: { readonly [K in Key]: number },
): { readonly [K in Key]: number } {
  const entries = Object.entries<number>(otherwise);
  return Object.fromEntries(
    entries.map(([key, number]) => [key, numberAt(mapping, key, number)]),
  ) as { [K in Key]: number };
}

/** The key with its number, or nothing: for keys that may be absent. */
export function optionalNumber<Key extends string>(
  mapping: JsonObject,
  key: Key,
): { readonly [K in Key]?: number } {
  const value = valueAt(mapping, key);
  return typeof value === "number" ? ({ [key]: value } as { [K in Key]: number }) : {};
}

/** Returns the mapping with some keys alone, in their order. */
export function only(mapping: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = valueAt(mapping, key);
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

/** The known keys of a mapping first, then the keys that nothing reads, as they are there. */
export function withRest<Read extends object>(read: Read, mapping: JsonObject): Read {
  return { ...read, ...mapping, ...read };
}

/** The mapping without some of its keys. */
export function without(mapping: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(mapping).filter(([key]) => !keys.includes(key)));
}

const plainKey = /^[A-Za-z0-9_-]+$/;

/** `searcher.max_trials`; a key that would not read as one is quoted: `hyperparameters["a.b"]`. */
export function keyPath(parent: string, key: string): string {
  if (!plainKey.test(key)) return `${parent}[${JSON.stringify(key)}]`;
  return parent === "" ? key : `${parent}.${key}`;
}

/** `labels[2]`, counted from 0. */
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

/** Mappings with their keys in order, all the way down; lists keep theirs. */
export function sortedKeys<Value extends Json>(value: Value): Value;
export function sortedKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => sortedKeys(item));
  if (!isMapping(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sortedKeys(value[key] ?? null)]));
}

/** How a sentence about a wrong value names it. */
export function describeValue(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  if (typeof value === "string") {
    return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  }
  return String(value);
}
