/** The keys of population-based training and of its schedules. What has to fit the space: `population-space.ts`. */
import { z } from "zod";
import { type JsonObject, valueAt } from "../json.ts";
import { configLimits } from "../limits.ts";
import { pbtDefaults, pbtInterval } from "../population.ts";
import { count, freeMapping, number, positive, text } from "./values.ts";

/** A comparison puts all members in order, and has milliseconds for it. */
const POPULATION_MAX = 1_000;
const FACTORS_MAX = 16;
/** Each segment is a trial, and a configuration of more would not fit an event. */
const SEGMENTS_MAX = 1_000;

const factor = number
  .gt(0)
  .refine((value) => value !== 1, { error: "is 1, which changes nothing: leave it out" });

export const pbtKeys = {
  population_size: z.int().min(2).max(POPULATION_MAX),
  max_concurrent_trials: count,
  time_metric: text,
  max_time: positive,
  interval: positive,
  burn_in: count,
  quantile: number.gt(0).max(0.5),
  exploit: z.enum(["truncation", "tournament"]),
  resample_probability: number.min(0).max(1),
  perturb_factors: z.array(factor).min(1).max(FACTORS_MAX),
  mutate: z.array(text).min(1),
  max_trials: z.int().min(1).max(configLimits.trialsPerSearchMax),
};

/** NumPy, PyTorch and Python all take a seed below this. */
const SEED_MAX = 2 ** 31 - 1;

export const scheduleKeys = {
  time_metric: text,
  schedule: z
    .array(
      z.strictObject({
        until: number.gt(0),
        hyperparameters: freeMapping,
        seed: z.int().min(0).max(SEED_MAX).optional(),
      }),
    )
    .min(1)
    .max(SEGMENTS_MAX),
};

export const neededByPopulation = { pbt: ["max_time"], schedule: ["schedule"] } as const;

/** What does not fit together in a searcher section. */
export function checkPopulation(
  searcher: JsonObject,
  note: (path: string, detail: string) => void,
): void {
  if (valueAt(searcher, "name") !== "pbt") return;
  const population = numberAt(searcher, "population_size") ?? pbtDefaults.population_size;
  const trials = numberAt(searcher, "max_trials");
  if (trials !== null && trials < population) {
    note(
      "searcher.max_trials",
      `must be at least population_size, whose members are trials: ${trials} is less than ${population}`,
    );
  }
  const most = numberAt(searcher, "max_time");
  if (most === null) return;
  const interval = numberAt(searcher, "interval");
  if (interval !== null && interval >= most) {
    note(
      "searcher.interval",
      `must be less than max_time, or no member would ever be compared: ${interval} is not less than ${most}`,
    );
  } else if (interval === null && pbtInterval(most) >= most) {
    note("searcher.max_time", "must be at least 2, or no member would ever be compared");
  }
  const burnIn = numberAt(searcher, "burn_in") ?? 0;
  if (burnIn >= most) {
    note(
      "searcher.burn_in",
      `must be less than max_time, or no member would ever be compared: ${burnIn} is not less than ${most}`,
    );
  }
}

function numberAt(searcher: JsonObject, key: string): number | null {
  const value = valueAt(searcher, key);
  return typeof value === "number" ? value : null;
}
