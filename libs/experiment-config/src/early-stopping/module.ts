/**
 * An early-stopping policy as configurations know it. What it decides, and on what evidence, is in libs/search under
 * the same name; docs/early-stopping.md is for people. Times are in units of the searcher's time metric (training steps
 * where it names none); null stands for what was not given.
 */
import type { JsonObject } from "../json.ts";
import type { Note } from "../parts/part.ts";
import type { Shape, Values } from "../parts/values.ts";

/** `grace`: reports before this time are not judged. */
export type Graceful = { readonly grace: number };

export type PolicyModule<Own extends object = object> = {
  /** Its keys, made of the small schemas: those that have to be there and those that may. */
  readonly keys: (values: Values) => { readonly needed?: Shape; readonly optional: Shape };
  /** Rules that no schema of a single key has. */
  readonly check?: (policy: JsonObject, path: string, note: Note) => void;
  /** Its keys, read from JSON of any origin: what is absent or of a wrong type gets its default. */
  readonly read: (policy: JsonObject) => Own;
};
