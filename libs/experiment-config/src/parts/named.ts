/** A single part of the configuration, with each stage of the whole document. */
import type { FieldProblem } from "@trainyard/kernel";
import type { Json } from "../json.ts";
import { partOf } from "../experiment.ts";
import { completeness, filled, laidOver, rewritten, sanity, withoutNulls } from "./part.ts";

export type ConfigPart = {
  /** Problems of the part as written, which no default could fix. */
  readonly sanity: (value: Json) => readonly FieldProblem[];
  /** Problems of the part when all defaults have been added. */
  readonly completeness: (value: Json) => readonly FieldProblem[];
  /** The part in its latest shapes, with every default filled in, and with the given seed if it has none. */
  readonly withDefaults: (value: Json, seed: number) => Json;
  /** Merges the first value over the second. */
  readonly merge: (mine: Json, theirs: Json) => Json;
};

/** Returns a part by the name of Determined's schema, for example `searcher-random`; undefined for an unknown name. */
export function configPart(name: string): ConfigPart | undefined {
  const part = partOf(name);
  if (part === undefined) return undefined;
  const read = (value: Json): Json => withoutNulls(part, value);
  const newer = (value: Json): Json => rewritten(part, read(value));
  return {
    sanity: (value) => sanity(part, read(value)),
    completeness: (value) => completeness(part, read(value)),
    withDefaults: (value, seed) => filled(part, newer(value), { seed }),
    merge: (mine, theirs) => laidOver(part, newer(mine), newer(theirs)),
  };
}
