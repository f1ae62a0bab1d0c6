/**
 * The searcher section. The table below is the only list of searchers that run: schemas, defaults, checks, types and
 * messages are derived from it, and libs/search has a table of algorithms with the same keys.
 */
import type { FieldProblem } from "@trainyard/kernel";
import type { HyperparameterSpace } from "../hyperparameters/hyperparameters.ts";
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
import type { SearcherFacts, SearcherModule } from "./module.ts";
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

/** The keys of every searcher: constraints, a warm start, and the metric that compares trials. */
type Common = {
  /** The conditions on a trial's hyperparameters: `constraints.ts`. */
  readonly constraints?: string[];
  readonly warm_start?: WarmStart;
  /** The number of failed trials at which the search fails; absent for no limit. */
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
/** The searchers with halving are those with a divisor. */
export type HalvingSearcher = Extract<SearcherConfig, { readonly divisor: number }>;

export const searcherNames = Object.keys(searchers) as readonly SearcherName[];

export function isSearcherName(name: unknown): name is SearcherName {
  return typeof name === "string" && Object.hasOwn(searchers, name);
}

/** The checkpoints of a searcher that this version does not know are as safe as those of any other. */
const unknownSearcher: SearcherFacts = {
  trainsToTheEnd: false,
  hasOneTrial: false,
  continues: false,
  startsFromCheckpoints: true,
  hasLines: false,
  needsMetric: true,
  ownPoints: null,
};

/** Returns the facts about a searcher by its name, which may be recorded by any version. */
export function searcherFacts(name: unknown): SearcherFacts {
  return isSearcherName(name) ? searchers[name] : unknownSearcher;
}

/** Reports keys of a searcher that contradict the space. */
export function problemsInSpace(
  searcher: SearcherConfig,
  space: HyperparameterSpace,
): readonly FieldProblem[] {
  if (!isSearcherName(searcher.name)) return [];
  const module: SearcherModule = searchers[searcher.name];
  return module.problemsInSpace(searcher, space);
}

/** Keys that are left out if they are empty. */
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

/** Reads any searcher section, perhaps an absent one, with every default filled in. Keys without effect stay. */
export function readSearcher(section: JsonObject = {}): SearcherConfig {
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
  // An unknown name stays as it is: the search refuses it and runs no other searcher instead.
  return withRest(read, without(section, optional)) as SearcherConfig;
}

/** A single constraint becomes a list of one. */
function readConstraints(section: JsonObject): Pick<Common, "constraints"> {
  const constraints = valueAt(section, "constraints");
  if (typeof constraints === "string") return { constraints: [constraints] };
  return Array.isArray(constraints) ? { constraints: textsAt(section, "constraints") } : {};
}
