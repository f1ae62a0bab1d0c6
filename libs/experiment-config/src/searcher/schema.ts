/**
 * The schema of the searcher section, selected by `name`: the searchers that run here, and those that Determined has
 * withdrawn.
 */
import { z } from "zod";
import * as values from "../parts/values.ts";
import { sharedKeys } from "./module.ts";
import { isSearcherName, searcherNames, searchers } from "./searcher.ts";
import { constraints, warmStart } from "./searched-space.ts";
import { withdrawnSearchers } from "./withdrawn.ts";

const { anyText, byKind, count, flag, keysOfAll, positive, searcherLength, text } = values;

const common = {
  metric: text.describe("The name of the validation metric by which trials are compared."),
  smaller_is_better: flag.describe(
    "Whether a smaller value of the metric is better. Default true.",
  ),
  constraints,
  warm_start: warmStart,
  max_failures: positive.describe(
    "The search has failed once so many of its trials have. Default: no limit.",
  ),
  // A Determined trial number has no meaning here; the gateway, which knows the trials, refuses it.
  source_trial_id: z
    .union([count, anyText])
    .describe('Trials start from the latest checkpoint of this trial, such as "12.3".'),
  source_checkpoint_uuid: anyText.describe("Trials start from this checkpoint."),
};
/** Determined withdrew this key in 0.38; the training code decides its length. */
const longest = { max_length: searcherLength };
export const searcherAsWritten = {
  max_length:
    "does not end a trial: it is passed to the training code, which decides how long it trains; max_time ends one",
  unit: "has no effect: the targets of the search's client are in time_metric",
};
const shared = sharedKeys(values);

/** Every searcher with a known name, and its properties. */
export const known = { ...searchers, ...withdrawnSearchers };
export type KnownSearcher = keyof typeof known;
export const knownNames = Object.keys(known) as readonly KnownSearcher[];

export function isKnownSearcher(name: unknown): name is KnownSearcher {
  return typeof name === "string" && Object.hasOwn(known, name);
}

/** Returns the keys that a searcher accepts and ignores. */
export function unusedKeys(name: unknown): readonly string[] {
  if (!isSearcherName(name)) return [];
  const used = searchers[name].keys(values);
  return Object.keys(shared).filter((key) => !Object.hasOwn(used, key));
}

function schemaOf(name: KnownSearcher) {
  return z
    .strictObject({ ...common, ...longest, ...shared, ...known[name].keys(values) })
    .partial()
    .extend({
      name: z.literal(name).describe("The searcher; auto unless something else is needed."),
    });
}

export const schemas = Object.fromEntries(
  knownNames.map((name) => [name, schemaOf(name)]),
) as Readonly<Record<KnownSearcher, ReturnType<typeof schemaOf>>>;

const named = values.oneOfKinds("name", Object.values(schemas), searcherNames);

/** The keys that every searcher has: merging keeps them even if the default names another searcher. */
export const commonSearcherKeys = Object.keys(common);

/** A section without a name is completed by the cluster's default. */
export const searcher = byKind("name", named, keysOfAll(Object.values(schemas), common)).describe(
  "How the space is searched. docs/howto/choose-a-searcher.md compares the searchers.",
);
