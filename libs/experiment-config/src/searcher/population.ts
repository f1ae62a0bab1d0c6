/** The searcher that trains a population, and the searcher that repeats a population's result. */
import {
  isMapping,
  type JsonObject,
  mappingAt,
  numberAt,
  numbersAt,
  numbersOr,
  sortedKeys,
  textAt,
  textsAt,
  valueAt,
} from "../json.ts";
import type { Note } from "../parts/part.ts";
import type { Shape, Values } from "../parts/values.ts";
import { type SearcherModule, shared } from "./module.ts";
import { mutateProblems, segmentProblems } from "./population-space.ts";

type Timed = {
  /** The metric that counts as time; empty for the training step. */
  readonly time_metric: string;
};

type Pbt = Timed & {
  readonly population_size: number;
  /** Members that train concurrently, taking turns after each interval; 0 for all. */
  readonly max_concurrent_trials: number;
  /** The time at which a member's training is complete. */
  readonly max_time: number;
  /** The time between two comparisons of a member with the others. */
  readonly interval: number;
  /** Members are not compared before this time. */
  readonly burn_in: number;
  /** The fraction of the population that copies from others, and the fraction that is copied. */
  readonly quantile: number;
  readonly exploit: "truncation" | "tournament";
  /** The probability that a hyperparameter is resampled instead of perturbed. */
  readonly resample_probability: number;
  readonly perturb_factors: number[];
  /** Paths of hyperparameters or nests that may change; empty for all that have several values. */
  readonly mutate: string[];
  /** The maximum number of trials: the first members, plus one for each copy. */
  readonly max_trials: number;
};

export type ScheduleSegment = {
  /** The end of the segment in which these hyperparameters apply. */
  readonly until: number;
  readonly hyperparameters: JsonObject;
  /** The seed of the segment's trial; null to draw one. */
  readonly seed: number | null;
};
type Schedule = Timed & { readonly schedule: ScheduleSegment[] };

/** A comparison sorts all members and must finish within milliseconds. */
const POPULATION_MAX = 1_000;
const FACTORS_MAX = 16;
/** Each segment is a trial, and a configuration with more would not fit an event. */
const SEGMENTS_MAX = 1_000;
/** NumPy, PyTorch and Python all accept seeds below this limit. */
const SEED_MAX = 2 ** 31 - 1;
/** The default interval is the training time divided by this: short relative to the training. */
const INTERVALS = 20;

const exploits = ["truncation", "tournament"] as const;

/**
 * Defaults that do not depend on other keys. Quantile and factors are Ray Tune's; the paper has 0.2 and no resampling.
 */
const numbers = {
  population_size: 16,
  max_concurrent_trials: 0,
  burn_in: 0,
  quantile: 0.25,
  resample_probability: 0.25,
};
const defaults = { ...numbers, exploit: "truncation", perturb_factors: [0.8, 1.2] } as const;

const intervalOf = (maxTime: number): number => Math.max(1, Math.floor(maxTime / INTERVALS));

/** Returns the number of trials if every member copies at each of its comparisons. */
const trialsOf = (population: number, maxTime: number, interval: number): number =>
  population * Math.max(1, Math.ceil(maxTime / interval));

function pbtKeys(values: Values): Shape {
  const { count, number, positive, text, z } = values;
  return {
    ...shared(values, ["max_time", "time_metric", "max_trials"]),
    population_size: z
      .int()
      .min(2)
      .max(POPULATION_MAX)
      .describe(`How many members the population has. Default ${numbers.population_size}.`),
    max_concurrent_trials: count.describe("How many members train at one time. Default: all."),
    interval: positive.describe(
      `How long a member trains between two comparisons. Default max_time / ${INTERVALS}.`,
    ),
    burn_in: count.describe("No member is compared before this time. Default 0."),
    quantile: number
      .gt(0)
      .max(0.5)
      .describe(
        `The share of members that copy, and that are copied. Default ${numbers.quantile}.`,
      ),
    exploit: z
      .enum(exploits)
      .describe("How a donor is chosen: truncation or tournament. Default truncation."),
    resample_probability: number
      .min(0)
      .max(1)
      .describe(
        `How likely a hyperparameter is drawn again, not perturbed. Default ${numbers.resample_probability}.`,
      ),
    perturb_factors: z
      .array(
        number
          .gt(0)
          .refine((value) => value !== 1, { error: "is 1, which changes nothing: leave it out" }),
      )
      .min(1)
      .max(FACTORS_MAX)
      .describe("A perturbed number is multiplied by one of these. Default 0.8 and 1.2."),
    mutate: z.array(text).min(1).describe("The hyperparameters that copies change. Default: all."),
  };
}

export const pbt: SearcherModule<Pbt> = {
  keys: pbtKeys,
  defaults: { ...defaults, perturb_factors: [...defaults.perturb_factors] },
  required: ["max_time"],
  trainsToTheEnd: false,
  hasOneTrial: false,
  continues: false,
  startsFromCheckpoints: true,
  hasLines: true,
  needsMetric: true,
  ownPoints: null,
  problemsInSpace: ({ mutate }, space) => mutateProblems(mutate, space),
  unserved: "its trials copy each other's weights, which are not recorded",
  check: checkPbt,
  read(searcher) {
    const max_time = numberAt(searcher, "max_time", 1);
    const interval = numberAt(searcher, "interval", intervalOf(max_time));
    const own = numbersOr(searcher, numbers);
    const factors = numbersAt(searcher, "perturb_factors");
    return {
      ...own,
      time_metric: textAt(searcher, "time_metric"),
      max_time,
      interval,
      exploit: exploits.find((one) => one === valueAt(searcher, "exploit")) ?? defaults.exploit,
      perturb_factors: factors.length === 0 ? [...defaults.perturb_factors] : factors,
      mutate: textsAt(searcher, "mutate"),
      max_trials: numberAt(
        searcher,
        "max_trials",
        trialsOf(own.population_size, max_time, interval),
      ),
    };
  },
};

function checkPbt(searcher: JsonObject, note: Note): void {
  const population = numberAt(searcher, "population_size", defaults.population_size);
  const trials = numberAt(searcher, "max_trials", null);
  if (trials !== null && trials < population) {
    note(
      "searcher.max_trials",
      `must be at least population_size, whose members are trials: ${trials} is less than ${population}`,
    );
  }
  const most = numberAt(searcher, "max_time", null);
  if (most === null) return;
  const interval = numberAt(searcher, "interval", null);
  if (interval !== null && interval >= most) {
    note(
      "searcher.interval",
      `must be less than max_time, or no member would ever be compared: ${interval} is not less than ${most}`,
    );
  } else if (interval === null && intervalOf(most) >= most) {
    note("searcher.max_time", "must be at least 2, or no member would ever be compared");
  }
  const burnIn = numberAt(searcher, "burn_in", defaults.burn_in);
  if (burnIn >= most) {
    note(
      "searcher.burn_in",
      `must be less than max_time, or no member would ever be compared: ${burnIn} is not less than ${most}`,
    );
  }
}

const segment = ({ freeMapping, number, z }: Values) =>
  z.strictObject({
    until: number.gt(0).describe("The time until which the hyperparameters of the segment hold."),
    hyperparameters: freeMapping.describe("The hyperparameters of the segment."),
    seed: z.int().min(0).max(SEED_MAX).describe("The seed of the segment's trial.").optional(),
  });

export const schedule: SearcherModule<Schedule> = {
  keys: (values) => ({
    ...shared(values, ["time_metric"]),
    schedule: values.z
      .array(segment(values))
      .min(1)
      .max(SEGMENTS_MAX)
      .describe("The segments of the training, one after the other."),
  }),
  defaults: {},
  required: ["schedule"],
  trainsToTheEnd: false,
  hasOneTrial: false,
  continues: false,
  startsFromCheckpoints: false,
  hasLines: true,
  needsMetric: true,
  ownPoints: "which trains its own schedule",
  problemsInSpace: ({ schedule: segments }, space) => segmentProblems(segments, space),
  unserved: "its segments start from each other's weights, which are not recorded",
  read(searcher) {
    const segments = valueAt(searcher, "schedule");
    return {
      time_metric: textAt(searcher, "time_metric"),
      schedule: (Array.isArray(segments) ? segments : []).filter(isMapping).map((segment) => ({
        until: numberAt(segment, "until", 0),
        hyperparameters: sortedKeys(mappingAt(segment, "hyperparameters")),
        seed: numberAt(segment, "seed", null),
      })),
    };
  },
};
