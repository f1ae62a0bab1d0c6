/** The searcher that trains a population, and the one that trains what a population found: every default filled in. */
import { type JsonObject, sortedKeys, valueAt } from "./json.ts";

type Timed = {
  readonly metric: string;
  readonly smaller_is_better: boolean;
  /** Names the value that counts as time, and is empty for the training step. */
  readonly time_metric: string;
};

export type PbtSearcher = Timed & {
  readonly name: "pbt";
  readonly population_size: number;
  /** Members that train at one time, in turns of an interval; 0 for all of them. */
  readonly max_concurrent_trials: number;
  /** The time at which a member's training is done. */
  readonly max_time: number;
  /** The time from one comparison of a member with the others to the next. */
  readonly interval: number;
  /** No member is compared before this time. */
  readonly burn_in: number;
  /** The share of the population that copies, and the share that is copied from. */
  readonly quantile: number;
  readonly exploit: "truncation" | "tournament";
  /** How likely it is that a hyperparameter is drawn afresh, and not changed. */
  readonly resample_probability: number;
  readonly perturb_factors: number[];
  /** Paths of hyperparameters or nests of them; none for all that have a choice. */
  readonly mutate: string[];
  /** Trials in all: the first members, and each copy is one more. */
  readonly max_trials: number;
};

export type ScheduleSegment = {
  /** The time until which these hyperparameters hold. */
  readonly until: number;
  readonly hyperparameters: JsonObject;
  /** The seed of the trial that trains the segment; null for one that is drawn. */
  readonly seed: number | null;
};
export type ScheduleSearcher = Timed & {
  readonly name: "schedule";
  readonly schedule: ScheduleSegment[];
};

export type PopulationSearcher = PbtSearcher | ScheduleSearcher;

/** What does not follow from other keys. The shares and factors are those of Ray Tune; the paper has 0.2 and no redraws. */
export const pbtDefaults = {
  population_size: 16,
  max_concurrent_trials: 0,
  burn_in: 0,
  quantile: 0.25,
  exploit: "truncation",
  resample_probability: 0.25,
  perturb_factors: [0.8, 1.2],
} as const;

/** How often a member is compared with the others where the configuration does not say: short against the training. */
const INTERVALS = 20;

export function pbtInterval(maxTime: number): number {
  return Math.max(1, Math.floor(maxTime / INTERVALS));
}

/** As many as if every member copied at each of its comparisons. */
export function pbtTrials(population: number, maxTime: number, interval: number): number {
  return population * Math.max(1, Math.ceil(maxTime / interval));
}

/** A searcher section that passed every check, if it is one of these; keys that all searchers have stay as they are. */
export function normalisePopulation(searcher: JsonObject): PopulationSearcher | null {
  const common = sortedKeys(searcher) as JsonObject;
  const time_metric = valueAt(searcher, "time_metric") ?? "";
  switch (valueAt(searcher, "name")) {
    case "pbt": {
      const maxTime = Number(valueAt(searcher, "max_time") ?? 1);
      const interval = Number(valueAt(searcher, "interval") ?? pbtInterval(maxTime));
      const population = Number(valueAt(searcher, "population_size"));
      return {
        ...common,
        time_metric,
        interval,
        max_trials: valueAt(searcher, "max_trials") ?? pbtTrials(population, maxTime, interval),
        mutate: valueAt(searcher, "mutate") ?? [],
      } as PbtSearcher;
    }
    case "schedule": {
      const schedule = valueAt(searcher, "schedule");
      const segments = Array.isArray(schedule) ? (schedule as JsonObject[]) : [];
      return {
        ...common,
        time_metric,
        schedule: segments.map((segment) => ({
          until: segment["until"],
          hyperparameters: sortedKeys(segment["hyperparameters"] ?? {}),
          seed: segment["seed"] ?? null,
        })),
      } as ScheduleSearcher;
    }
    default:
      return null;
  }
}
