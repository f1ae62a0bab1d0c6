/** The parts of a recorded configuration that its submission did not give. */
import { isMapping, type Json, type JsonObject, keyPath, valueAt } from "../json.ts";

/**
 * The paths of the recorded configuration that the submitted document does not have: defaults, and the newer form of
 * what was given in an older one. Of a section that is absent as a whole, the path of the section.
 */
export function defaultedPaths(submitted: JsonObject, recorded: JsonObject): readonly string[] {
  return missingIn(submitted, recorded, "");
}

function missingIn(given: JsonObject, full: JsonObject, parent: string): readonly string[] {
  return Object.entries(full).flatMap(([key, value]) => {
    const path = keyPath(parent, key);
    const mine: Json | undefined = valueAt(given, key);
    if (mine === undefined) return isEmpty(value) ? [] : [path];
    return isMapping(mine) && isMapping(value) ? missingIn(mine, value, path) : [];
  });
}

/** Recorded where nothing was given, and nothing was filled in. */
function isEmpty(value: Json): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isMapping(value)) return Object.values(value).every(isEmpty);
  return value === "" || value === null;
}
