/** How lists are merged: mine, then those of theirs that none of mine replaces. */
import { isMapping, type Json, valueAt } from "../json.ts";

export function asList(value: Json): Json[] {
  if (value === null) return [];
  return Array.isArray(value) ? value : [value];
}

export function unite(mine: Json[], theirs: Json[], keyOf: (item: Json) => Json): Json[] {
  const keys = new Set(mine.map((item) => JSON.stringify(keyOf(item))));
  return [...mine, ...theirs.filter((item) => !keys.has(JSON.stringify(keyOf(item))))];
}

/** United by the key that makes an item the one it is; an item without it is itself. */
export function uniteBy(key: string): (mine: Json, theirs: Json) => Json {
  const keyOf = (item: Json): Json => (isMapping(item) ? (valueAt(item, key) ?? item) : item);
  return (mine, theirs) => unite(asList(mine), asList(theirs), keyOf);
}

export function uniteAll(mine: Json, theirs: Json): Json {
  return unite(asList(mine), asList(theirs), (one) => one);
}
