/**
 * When trials, or the whole search, end before their time: the list under `early_stopping` as services store and read it,
 * every default filled in. Times are in units of the searcher's time metric (training steps where it names none); null
 * stands for what was not given. What each policy means is in docs/early-stopping.md, and decided in libs/search.
 */
import { isMapping, type Json, type JsonObject, valueAt } from "./json.ts";

/** `grace`: reports before this time are not judged. */
type Graceful = { readonly grace: number };

export type NoImprovementPolicy = Graceful & {
  readonly name: "no_improvement";
  /** Reports in a row without an improvement, or time since the last one: one of the two. */
  readonly patience: number | null;
  readonly patience_time: number | null;
  /** An improvement is more than this; relative to the best value's size in the second. */
  readonly min_delta: number;
  readonly min_delta_relative: number;
};
export type ThresholdPolicy = Graceful & {
  readonly name: "threshold";
  readonly lower: number | null;
  readonly upper: number | null;
};
export type MedianPolicy = Graceful & {
  readonly name: "median";
  /** Others that must have come as far before anybody is judged by them. */
  readonly min_trials: number;
};
export type PercentilePolicy = Graceful & {
  readonly name: "percentile";
  /** The best so many percent go on. */
  readonly percentile: number;
  readonly min_trials: number;
};
export type PbtPolicy = Graceful & {
  readonly name: "pbt";
  /** The share of the population that counts as its lower end. */
  readonly quantile: number;
  /** Reports in a row in the lower quantile. */
  readonly patience: number;
};
export type NotFinitePolicy = { readonly name: "not_finite" };
export type BudgetPolicy = {
  readonly name: "budget";
  /** Seconds since the search started. */
  readonly max_wall_time: number | null;
  readonly max_slot_hours: number | null;
  readonly max_trials: number | null;
};
/** What judges a single trial by its reports. */
export type TrialPolicy =
  | NoImprovementPolicy
  | ThresholdPolicy
  | MedianPolicy
  | PercentilePolicy
  | PbtPolicy
  | NotFinitePolicy
  | { readonly any: TrialPolicy[] }
  | { readonly all: TrialPolicy[] };
export type EarlyStoppingPolicy = TrialPolicy | BudgetPolicy;

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };
export const durationPattern = /^(\d+(?:\.\d+)?)\s*([smhd])$/;

/** A number of seconds, or text such as "90s", "30m", "2h", "1.5d"; null for neither. */
export function durationSeconds(value: Json | undefined): number | null {
  if (typeof value === "number") return value;
  const [, number = "", unit = ""] =
    typeof value === "string" ? (durationPattern.exec(value) ?? []) : [];
  const factor = secondsOf[unit];
  return factor === undefined ? null : Number(number) * factor;
}

function numberAt(policy: JsonObject, key: string): number | null {
  const value = valueAt(policy, key);
  return typeof value === "number" ? value : null;
}

const defaults = {
  /** As Vizier and Ray have it. */
  minTrials: 3,
  percentile: 50,
  /** As Ray's population-based training has it. */
  quantile: 0.25,
  pbtPatience: 3,
} as const;

/** A list that passed every check; what was not written is an empty one. */
export function normaliseEarlyStopping(list: Json | undefined): EarlyStoppingPolicy[] {
  return Array.isArray(list)
    ? list.map((item) => normalisePolicy(isMapping(item) ? item : {}))
    : [];
}

function normalisePolicy(policy: JsonObject): EarlyStoppingPolicy {
  for (const key of ["any", "all"] as const) {
    const inner = valueAt(policy, key);
    if (inner === undefined) continue;
    const members = normaliseEarlyStopping(inner) as TrialPolicy[];
    return key === "any" ? { any: members } : { all: members };
  }
  const grace = numberAt(policy, "grace") ?? 0;
  const min_trials = numberAt(policy, "min_trials") ?? defaults.minTrials;
  switch (valueAt(policy, "name")) {
    case "no_improvement":
      return {
        name: "no_improvement",
        patience: numberAt(policy, "patience"),
        patience_time: numberAt(policy, "patience_time"),
        min_delta: numberAt(policy, "min_delta") ?? 0,
        min_delta_relative: numberAt(policy, "min_delta_relative") ?? 0,
        grace,
      };
    case "threshold": {
      const [lower, upper] = [numberAt(policy, "lower"), numberAt(policy, "upper")];
      return { name: "threshold", lower, upper, grace };
    }
    case "median":
      return { name: "median", min_trials, grace };
    case "percentile": {
      const percentile = numberAt(policy, "percentile") ?? defaults.percentile;
      return { name: "percentile", percentile, min_trials, grace };
    }
    case "pbt": {
      const quantile = numberAt(policy, "quantile") ?? defaults.quantile;
      const patience = numberAt(policy, "patience") ?? defaults.pbtPatience;
      return { name: "pbt", quantile, patience, grace };
    }
    case "budget":
      return {
        name: "budget",
        max_wall_time: durationSeconds(valueAt(policy, "max_wall_time")),
        max_slot_hours: numberAt(policy, "max_slot_hours"),
        max_trials: numberAt(policy, "max_trials"),
      };
    default:
      return { name: "not_finite" };
  }
}
