/** What each searcher's keys are by default, and which of them it cannot do without. */
import type { JsonObject } from "../json.ts";
import { pbtDefaults } from "../population.ts";
import { neededByHalving } from "../schema/halving-searchers.ts";
import { withFirstObjective } from "../schema/objectives.ts";
import { neededByPopulation } from "../schema/population-searchers.ts";
import {
  commonSearcherKeys,
  runningSearchers,
  type SearcherName,
  searcher as searcherSchema,
  searchers,
} from "../schema/searcher.ts";
import { kindOf, mergeKinds } from "./kinds.ts";
import type { Part } from "./part.ts";

const concurrent = { max_concurrent_trials: 16 };
const rungs = { divisor: 4, max_rungs: 5, mode: "standard" };

/** What each searcher's own keys are by default; a key whose default follows from others is its algorithm's to fill in. */
const defaults: Partial<Record<SearcherName, JsonObject>> = {
  single: {},
  adaptive_asha: { ...concurrent, ...rungs, bracket_rungs: [] },
  async_halving: { ...concurrent, divisor: 4 },
  tpe: { ...concurrent, multivariate: true },
  pbt: { ...pbtDefaults, perturb_factors: [...pbtDefaults.perturb_factors] },
  schedule: {},
  custom: {},
  adaptive: { ...rungs, bracket_rungs: [], train_stragglers: true },
  adaptive_simple: rungs,
  sync_halving: { divisor: 4, train_stragglers: true },
};

const required: Partial<Record<SearcherName, readonly string[]>> = {
  random: ["max_trials"],
  sobol: ["max_trials"],
  tpe: ["max_trials"],
  gp: ["max_trials"],
  ...neededByHalving,
  ...neededByPopulation,
  adaptive: ["budget"],
  adaptive_simple: ["max_trials"],
  sync_halving: ["num_rungs", "budget"],
};

const metric = "it is the name of the validation metric that the search compares";

/** What a key is that many a configuration of an older release does not have. */
const meaning: Readonly<Record<string, string>> = {
  max_time: "the most that one trial trains, counted in time_metric",
  time_metric: "the name of what max_time counts, for example batches or epochs",
};

function partOf(name: SearcherName): Part {
  const needs = (key: string): string => {
    const means = Object.hasOwn(meaning, key) ? `: ${meaning[key]}` : "";
    return `the searcher ${name} needs it${means}`;
  };
  const needed = (required[name] ?? []).map((key): [string, string] => [key, needs(key)]);
  return {
    schema: searchers[name],
    defaults: { smaller_is_better: true, ...(defaults[name] ?? concurrent) },
    required: { metric, ...Object.fromEntries(needed) },
  };
}

const names = Object.keys(searchers) as SearcherName[];
const byName = Object.fromEntries(names.map((name) => [name, partOf(name)]));

export const searcher: Part = {
  schema: searcherSchema,
  kind: kindOf("name", byName),
  defaults: { smaller_is_better: true },
  required: { name: `it must be one of ${runningSearchers.join(", ")}`, metric },
  merge: mergeKinds("name", commonSearcherKeys),
  rewrite: withFirstObjective,
};

/** Each by the name of its schema: `searcher-async-halving`. */
export const searcherParts: Readonly<Record<string, Part>> = {
  searcher,
  ...Object.fromEntries(
    names.map((name) => [`searcher-${name.replaceAll("_", "-")}`, partOf(name)]),
  ),
};
