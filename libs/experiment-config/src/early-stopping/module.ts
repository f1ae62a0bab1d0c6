/**
 * The configuration of an early-stopping policy. libs/search has its decisions under the same name;
 * docs/early-stopping.md describes it for users. Times are in units of the searcher's time metric (default: training
 * steps); null means not given.
 */
import type { JsonObject } from "../json.ts";
import type { Note } from "../parts/part.ts";
import type { Shape, Values } from "../parts/values.ts";

/** `grace`: reports before this time are not judged. */
export type Graceful = { readonly grace: number };

/** The key that every policy of trials has. */
export const graceKey = ({ number }: Values): Shape => ({
  grace: number.min(0).describe("Reports before this time are not judged. Default 0."),
});

export type PolicyModule<Own extends object = object> = {
  /** The policy's keys, built from the small schemas: required and optional ones. */
  readonly keys: (values: Values) => { readonly needed?: Shape; readonly optional: Shape };
  /** Rules across several keys. */
  readonly check?: (policy: JsonObject, path: string, note: Note) => void;
  /** Reads the policy's keys from any JSON: an absent value, or one of the wrong type, becomes the default. */
  readonly read: (policy: JsonObject) => Own;
};
