/** What a YAML document holds once it has been read: plain JSON, mutable array types so that it fits a protobuf Struct. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [key: string]: Json };

export function isMapping(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An own key's value; never one that the prototype would answer. */
export function valueAt(mapping: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(mapping, key) ? mapping[key] : undefined;
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

/** The length of a text in UTF-8. */
export function utf8Bytes(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit >= 0xd800 && unit < 0xdc00 && i + 1 < text.length) {
      bytes += 4;
      i += 1;
    } else bytes += 3;
  }
  return bytes;
}

/** Mappings with their keys in order, all the way down; lists keep theirs. */
export function sortedKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (!isMapping(value)) return value;
  const sorted: JsonObject = {};
  for (const key of Object.keys(value).sort()) sorted[key] = sortedKeys(value[key] ?? null);
  return sorted;
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
