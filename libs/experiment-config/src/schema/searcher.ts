/** The searcher section, told apart by `name`: what runs, what Determined's configurations name, what it withdrew. */
import { z } from "zod";
import { configLimits } from "../limits.ts";
import { kindSentence } from "../sentences.ts";
import { customKeys } from "./custom-searcher.ts";
import {
  adaptiveAshaKeys,
  ashaKeys,
  asyncHalvingKeys,
  autoKeys,
  bohbKeys,
  hyperbandKeys,
} from "./halving-searchers.ts";
import { pbtKeys, scheduleKeys } from "./population-searchers.ts";
import { constraints, warmStart } from "./searched-space.ts";
import { gpKeys, sobolKeys, tpeKeys } from "./model-searchers.ts";
import { objectiveKeys } from "./objectives.ts";
import {
  anyText,
  byKind,
  count,
  flag,
  keysOfAll,
  number,
  positive,
  searcherLength,
  text,
} from "./values.ts";

const common = {
  metric: text,
  smaller_is_better: flag,
  constraints,
  warm_start: warmStart,
  source_trial_id: count,
  source_checkpoint_uuid: anyText,
};
/** Determined gave it up in 0.38; the training code decides how long it trains. */
const longest = { max_length: searcherLength };

const trials = z.int().min(1).max(configLimits.trialsPerSearchMax);
const divisor = number.gt(1);
const mode = z.enum(["aggressive", "standard", "conservative"]);
/** When a trial ends that would else train for as long as its code does. */
const longestTime = { max_time: positive, time_metric: text };
const concurrency = { max_concurrent_trials: count };
/** What every searcher takes, so that one can be tried in the place of another: some have no use for some of them. */
const shared = { max_trials: trials, divisor, ...longestTime, ...concurrency };
const adaptive = {
  mode,
  divisor,
  max_rungs: positive,
  bracket_rungs: z.array(positive),
  stop_once: flag,
};
const halving = { num_rungs: positive, divisor, stop_once: flag };
const budget = { budget: searcherLength, train_stragglers: flag };

function searcherOf<Name extends string, Keys extends Readonly<Record<string, z.ZodType>>>(
  name: Name,
  keys: Keys,
) {
  return z
    .strictObject({ ...common, ...longest, ...shared, ...keys })
    .partial()
    .extend({ name: z.literal(name) });
}

const own = {
  single: longestTime,
  random: { max_trials: trials, ...objectiveKeys, ...concurrency, ...longestTime },
  grid: { ...objectiveKeys, max_trials: trials, ...concurrency, ...longestTime },
  sobol: { ...sobolKeys, ...longestTime },
  tpe: { ...tpeKeys, ...longestTime },
  gp: { ...gpKeys, ...longestTime },
  asha: ashaKeys,
  bohb: bohbKeys,
  auto: autoKeys,
  adaptive_asha: adaptiveAshaKeys,
  async_halving: asyncHalvingKeys,
  hyperband: hyperbandKeys,
  pbt: pbtKeys,
  schedule: scheduleKeys,
  custom: { ...customKeys, ...longestTime },
} as const;

/** The keys that a searcher takes and has no use for. */
export function unusedKeys(name: unknown): readonly string[] {
  if (typeof name !== "string" || !Object.hasOwn(own, name)) return [];
  const used = own[name as keyof typeof own];
  return Object.keys(shared).filter((key) => !Object.hasOwn(used, key));
}

export const searchers = {
  single: searcherOf("single", own.single),
  random: searcherOf("random", own.random),
  grid: searcherOf("grid", own.grid),
  sobol: searcherOf("sobol", own.sobol),
  tpe: searcherOf("tpe", own.tpe),
  gp: searcherOf("gp", own.gp),
  asha: searcherOf("asha", own.asha),
  bohb: searcherOf("bohb", own.bohb),
  auto: searcherOf("auto", own.auto),
  adaptive_asha: searcherOf("adaptive_asha", own.adaptive_asha),
  async_halving: searcherOf("async_halving", own.async_halving),
  hyperband: searcherOf("hyperband", own.hyperband),
  pbt: searcherOf("pbt", own.pbt),
  schedule: searcherOf("schedule", own.schedule),
  custom: searcherOf("custom", own.custom),
  adaptive: searcherOf("adaptive", { ...adaptive, ...budget }),
  adaptive_simple: searcherOf("adaptive_simple", { max_trials: trials, ...adaptive }),
  sync_halving: searcherOf("sync_halving", { ...halving, ...budget }),
} as const;
export type SearcherName = keyof typeof searchers;

/** Whether a searcher's trials train until their code ends, unless max_time ends them: the others have rungs. */
export function trainsToTheEnd(name: string): boolean {
  return ["single", "random", "grid", "sobol", "tpe", "gp", "custom"].includes(name);
}

/** The searchers that run. */
export const runningSearchers: readonly SearcherName[] = [
  "single",
  "random",
  "grid",
  "sobol",
  "tpe",
  "gp",
  "asha",
  "bohb",
  "auto",
  "adaptive_asha",
  "async_halving",
  "hyperband",
  "pbt",
  "schedule",
  "custom",
];

/** What to do about a searcher that Determined has withdrawn. */
export const withdrawnSearchers: Partial<Record<SearcherName, string>> = {
  adaptive: "use adaptive_asha with max_trials, max_time and time_metric",
  adaptive_simple: "use adaptive_asha with max_time and time_metric",
  sync_halving: "use async_halving with max_trials, max_time and time_metric",
};

const named = z.discriminatedUnion(
  "name",
  [
    searchers.single,
    searchers.random,
    searchers.grid,
    searchers.sobol,
    searchers.tpe,
    searchers.gp,
    searchers.asha,
    searchers.bohb,
    searchers.auto,
    searchers.adaptive_asha,
    searchers.async_halving,
    searchers.hyperband,
    searchers.pbt,
    searchers.schedule,
    searchers.custom,
    searchers.adaptive,
    searchers.adaptive_simple,
    searchers.sync_halving,
  ],
  { error: kindSentence("name", runningSearchers) },
);

/** What a searcher has whatever its name is, and so keeps of a default of another name. */
export const commonSearcherKeys = Object.keys(common);

/** One without a name is a part of one, which the cluster's default completes. */
export const searcher = byKind("name", named, keysOfAll(Object.values(searchers), common));
