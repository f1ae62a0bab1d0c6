/** A part of the configuration by itself, with each stage that the whole document goes through. */
import type { FieldProblem } from "@trainyard/kernel";
import type { Json } from "../json.ts";
import { partOf } from "../experiment.ts";
import { completeness, filled, laidOver, rewritten, sanity, withoutNulls } from "./part.ts";

export type ConfigPart = {
  /** The mistake in it as written, whatever may still be added to it. */
  readonly sanity: (value: Json) => readonly FieldProblem[];
  /** The mistake in it when nothing is added any more. */
  readonly completeness: (value: Json) => readonly FieldProblem[];
  /** In the shapes of today, with every default in it, and the seed where none is given. */
  readonly withDefaults: (value: Json, seed: number) => Json;
  /** The first over the second. */
  readonly merge: (mine: Json, theirs: Json) => Json;
};

/** Returns a part by the name of Determined's schema, for example `searcher-random`; undefined where there is none. */
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
