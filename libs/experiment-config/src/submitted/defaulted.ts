/** Finds the parts of a recorded configuration that its submission did not contain. */
import { isMapping, type Json, type JsonObject, keyPath, valueAt } from "../json.ts";

/**
 * Returns the paths of the recorded configuration that the submitted document lacks: defaults, and rewritten older
 * shapes. If a whole section is absent, only the section's path is returned.
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

/** Empty values are recorded for absent keys without a default. */
function isEmpty(value: Json): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isMapping(value)) return Object.values(value).every(isEmpty);
  return value === "" || value === null;
}
