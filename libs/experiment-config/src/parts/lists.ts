/** Merges two lists: the items of the first, then those of the second that none of the first replaces. */
import { isMapping, type Json, valueAt } from "../json.ts";

export function asList(value: Json): Json[] {
  if (value === null) return [];
  return Array.isArray(value) ? value : [value];
}

export function unite(mine: Json[], theirs: Json[], keyOf: (item: Json) => Json): Json[] {
  const keys = new Set(mine.map((item) => JSON.stringify(keyOf(item))));
  return [...mine, ...theirs.filter((item) => !keys.has(JSON.stringify(keyOf(item))))];
}

/** Unites two lists by the key that identifies an item; an item without the key is identified by its whole value. */
export function uniteBy(key: string): (mine: Json, theirs: Json) => Json {
  const keyOf = (item: Json): Json => (isMapping(item) ? (valueAt(item, key) ?? item) : item);
  return (mine, theirs) => unite(asList(mine), asList(theirs), keyOf);
}

export function uniteAll(mine: Json, theirs: Json): Json {
  return unite(asList(mine), asList(theirs), (one) => one);
}
