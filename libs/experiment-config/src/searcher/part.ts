/** The defaults of each searcher's keys, and its required keys. */
import { kindOf, mergeKinds } from "../parts/kinds.ts";
import type { Part } from "../parts/part.ts";
import { withFirstObjective } from "./objectives.ts";
import {
  commonSearcherKeys,
  known,
  type KnownSearcher,
  knownNames,
  schemas,
  searcher as searcherSchema,
} from "./schema.ts";
import { searcherNames } from "./searcher.ts";

const metric = "it is the name of the validation metric that the search compares";

/** Explains keys that configurations often lack. */
const meaning: Readonly<Record<string, string>> = {
  max_time: "the most that one trial trains, counted in time_metric",
  time_metric: "the name of what max_time counts, for example batches or epochs",
};

function partOf(name: KnownSearcher): Part {
  const needs = (key: string): string => {
    const means = Object.hasOwn(meaning, key) ? `: ${meaning[key]}` : "";
    return `the searcher ${name} needs it${means}`;
  };
  const { defaults, required } = known[name];
  return {
    schema: schemas[name],
    defaults: { smaller_is_better: true, ...defaults },
    required: { metric, ...Object.fromEntries(required.map((key) => [key, needs(key)])) },
  };
}

const byName = Object.fromEntries(knownNames.map((name) => [name, partOf(name)]));

export const searcher: Part = {
  schema: searcherSchema,
  kind: kindOf("name", byName),
  defaults: { smaller_is_better: true },
  required: { name: `it must be one of ${searcherNames.join(", ")}`, metric },
  merge: mergeKinds("name", commonSearcherKeys),
  rewrite: withFirstObjective,
};

/** Parts by the name of their schema: `searcher-async-halving`. */
export const searcherParts: Readonly<Record<string, Part>> = {
  searcher,
  ...Object.fromEntries(
    Object.entries(byName).map(([name, part]) => [`searcher-${name.replaceAll("_", "-")}`, part]),
  ),
};
