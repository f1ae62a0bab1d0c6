/** The schema of the searcher section, chosen by `name`: what runs, and what Determined has withdrawn. */
import { z } from "zod";
import * as values from "../parts/values.ts";
import { isSearcherName, searcherNames, searchers } from "./searcher.ts";
import { constraints, warmStart } from "./searched-space.ts";
import { withdrawnSearchers } from "./withdrawn.ts";

const { anyText, byKind, count, flag, keysOfAll, number, positive, searcherLength, text, trials } =
  values;

const common = {
  metric: text,
  smaller_is_better: flag,
  constraints,
  warm_start: warmStart,
  max_failures: positive,
  // Determined's number names no trial here; the gateway, which knows the trials, refuses it.
  source_trial_id: z.union([count, anyText]),
  source_checkpoint_uuid: anyText,
};
/** Determined gave it up in 0.38; the training code decides how long it trains. */
const longest = { max_length: searcherLength };
/** The keys of every searcher, so that one can be tried in the place of another: some have no use for some of them. */
const shared = {
  max_trials: trials,
  divisor: number.gt(1),
  max_time: positive,
  time_metric: text,
  max_concurrent_trials: count,
};

/** Every searcher that has a name here, with what is said of each. */
export const known = { ...searchers, ...withdrawnSearchers };
export type KnownSearcher = keyof typeof known;
export const knownNames = Object.keys(known) as readonly KnownSearcher[];

export function isKnownSearcher(name: unknown): name is KnownSearcher {
  return typeof name === "string" && Object.hasOwn(known, name);
}

/** The keys that a searcher takes and has no use for. */
export function unusedKeys(name: unknown): readonly string[] {
  if (!isSearcherName(name)) return [];
  const used = searchers[name].keys(values);
  return Object.keys(shared).filter((key) => !Object.hasOwn(used, key));
}

function schemaOf(name: KnownSearcher) {
  return z
    .strictObject({ ...common, ...longest, ...shared, ...known[name].keys(values) })
    .partial()
    .extend({ name: z.literal(name) });
}

export const schemas = Object.fromEntries(
  knownNames.map((name) => [name, schemaOf(name)]),
) as Readonly<Record<KnownSearcher, ReturnType<typeof schemaOf>>>;

const named = values.oneOfKinds("name", Object.values(schemas), searcherNames);

/** The keys that every searcher has, and so keeps of a default of another name. */
export const commonSearcherKeys = Object.keys(common);

/** One without a name is a part of one, which the cluster's default completes. */
export const searcher = byKind("name", named, keysOfAll(Object.values(schemas), common));
