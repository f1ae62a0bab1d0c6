/**
 * The searcher section. The table below is the one list of the searchers that run: schemas, defaults, checks, types and
 * the sentences that name them all follow from it, and libs/search has a table of algorithms with the same keys.
 */
import {
  isMapping,
  type JsonObject,
  mappingAt,
  optionalNumber,
  textAt,
  textsAt,
  valueAt,
  without,
  withRest,
} from "../json.ts";
import { adaptiveAsha, asha, asyncHalving, auto, bohb, hyperband } from "./halving.ts";
import type { SearcherModule } from "./module.ts";
import { pbt, schedule } from "./population.ts";
import { custom, gp, grid, random, single, sobol, tpe } from "./sampling.ts";
import { readWarmStart, type WarmStart } from "./warm-start.ts";

export const searchers = {
  single,
  random,
  grid,
  sobol,
  tpe,
  gp,
  asha,
  bohb,
  auto,
  adaptive_asha: adaptiveAsha,
  async_halving: asyncHalving,
  hyperband,
  pbt,
  schedule,
  custom,
} as const satisfies Readonly<Record<string, SearcherModule>>;
export type SearcherName = keyof typeof searchers;

/**
 * The keys of every searcher: constraints on its space, its first points, and the metric by which it compares trials.
 */
type Common = {
  /** The conditions on a trial's hyperparameters: `constraints.ts`. */
  readonly constraints?: string[];
  readonly warm_start?: WarmStart;
  /** How many trials fail before the search has failed; absent for no limit. */
  readonly max_failures?: number;
  readonly metric: string;
  readonly smaller_is_better: boolean;
};

export type SearcherOf<Name extends SearcherName> = Common & { readonly name: Name } & ReturnType<
    (typeof searchers)[Name]["read"]
  >;
export type SearcherConfig = { [Name in SearcherName]: SearcherOf<Name> }[SearcherName];

export type AdaptiveAshaSearcher = SearcherOf<"adaptive_asha">;
export type AshaSearcher = SearcherOf<"asha">;
export type AsyncHalvingSearcher = SearcherOf<"async_halving">;
export type AutoSearcher = SearcherOf<"auto">;
export type BohbSearcher = SearcherOf<"bohb">;
export type CustomSearcher = SearcherOf<"custom">;
export type HyperbandSearcher = SearcherOf<"hyperband">;
export type PbtSearcher = SearcherOf<"pbt">;
export type ScheduleSearcher = SearcherOf<"schedule">;
/** Those that halve have a divisor. */
export type HalvingSearcher = Extract<SearcherConfig, { readonly divisor: number }>;

export const searcherNames = Object.keys(searchers) as readonly SearcherName[];

export function isSearcherName(name: unknown): name is SearcherName {
  return typeof name === "string" && Object.hasOwn(searchers, name);
}

/** Whether a searcher's trials train until their code ends, unless max_time ends them: the others have rungs. */
export function trainsToTheEnd(name: string): boolean {
  return isSearcherName(name) && searchers[name].trainsToTheEnd;
}

/** Keys that are there only where they say something. */
const optional = [
  "constraints",
  "warm_start",
  "max_failures",
  "max_trials",
  "max_time",
  "time_metric",
  "objectives",
  "stop_once",
];

/** A searcher section of any origin with every default in it. Keys without effect stay. */
export function readSearcher(section: JsonObject): SearcherConfig {
  const name = textAt(section, "name");
  const own = isSearcherName(name) ? searchers[name].read(section) : {};
  const read = {
    name,
    metric: textAt(section, "metric"),
    smaller_is_better: valueAt(section, "smaller_is_better") !== false,
    ...own,
    ...optionalNumber(section, "max_failures"),
    ...readConstraints(section),
    ...(isMapping(valueAt(section, "warm_start"))
      ? { warm_start: readWarmStart(mappingAt(section, "warm_start")) }
      : {}),
  };
  // A name that this version does not have stays as it is: the search refuses it, and runs no other in its place.
  return withRest(read, without(section, optional)) as SearcherConfig;
}

/** One constraint is a list of one. */
function readConstraints(section: JsonObject): Pick<Common, "constraints"> {
  const constraints = valueAt(section, "constraints");
  if (typeof constraints === "string") return { constraints: [constraints] };
  return Array.isArray(constraints) ? { constraints: textsAt(section, "constraints") } : {};
}
