/** Mappings of several kinds, selected by one key. */
import { isMapping, type Json, valueAt } from "../json.ts";
import type { Part } from "./part.ts";

export function kindOf(
  key: string,
  kinds: Readonly<Record<string, Part>>,
): (value: Json) => Part | undefined {
  return (value) => {
    const kind = isMapping(value) ? valueAt(value, key) : undefined;
    return typeof kind === "string" && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
  };
}

/** Merges two mappings: if their kinds differ, only the common keys are merged. */
export function mergeKinds(
  kind: string,
  common: readonly string[],
): (mine: Json, theirs: Json) => Json {
  return (mine, theirs) => {
    if (!isMapping(mine) || !isMapping(theirs)) return mine;
    const same = valueAt(mine, kind) === undefined || mine[kind] === valueAt(theirs, kind);
    const inherited = Object.entries(theirs).filter(
      ([key]) => same || (key !== kind && common.includes(key)),
    );
    return { ...Object.fromEntries(inherited), ...mine };
  };
}
