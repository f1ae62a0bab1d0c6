/** The searchers that halve: their configuration with every default filled in. */
import { type Json, type JsonObject, valueAt } from "./json.ts";

/** What halves counts in a time: `time_metric` names it, and is empty for the training step. */
type Timed = {
  readonly metric: string;
  readonly smaller_is_better: boolean;
  readonly max_time: number;
  readonly time_metric: string;
  readonly divisor: number;
  /** Trials that train at one time; what 0 means is the searcher's own. */
  readonly max_concurrent_trials: number;
};

/** Suspends trials at rungs and resumes the best (true), or stops those that are not good enough (false). */
type Resuming = { readonly max_trials: number; readonly resume: boolean };

export type AshaSearcher = Timed &
  Resuming & {
    readonly name: "asha";
    /** The time of the first rung. */
    readonly min_time: number;
  };
/** As asha, where a model proposes most trials. */
export type BohbSearcher = Omit<AshaSearcher, "name"> & { readonly name: "bohb" };
/** As asha in promotion form, where a model proposes most trials and the first rung may rise. */
export type AutoSearcher = Timed & {
  readonly name: "auto";
  readonly max_trials: number;
  /** The time of the first rung as long as it has not risen. */
  readonly min_time: number;
};
export type AsyncHalvingSearcher = Timed &
  Resuming & { readonly name: "async_halving"; readonly num_rungs: number };
export type AdaptiveAshaSearcher = Timed &
  Resuming & {
    readonly name: "adaptive_asha";
    readonly mode: "aggressive" | "standard" | "conservative";
    readonly max_rungs: number;
    /** Rungs of each bracket; without any they follow from the mode. */
    readonly bracket_rungs: number[];
  };
export type HyperbandSearcher = Timed & {
  readonly name: "hyperband";
  /** 0 for one round of the brackets as they come. */
  readonly max_trials: number;
};
export type HalvingSearcher =
  | AshaSearcher
  | BohbSearcher
  | AutoSearcher
  | AsyncHalvingSearcher
  | AdaptiveAshaSearcher
  | HyperbandSearcher;

const defaults = {
  concurrentTrials: 16,
  /** Determined's. */
  divisor: 4,
  rungs: 5,
  /** Of the papers; it wastes less than 4 on the learning curves that we measured. */
  ownDivisor: 3,
  /** How often the time of the first rung of asha is multiplied to reach the last. */
  halvings: 3,
} as const;

function numberAt(searcher: JsonObject, key: string, otherwise: number): number {
  const value = valueAt(searcher, key);
  return typeof value === "number" ? value : otherwise;
}

/** Determined's older `stop_once` is the opposite of `resume`, which stands over it. */
function resumeAt(searcher: JsonObject, otherwise: boolean): boolean {
  const resume = valueAt(searcher, "resume");
  if (typeof resume === "boolean") return resume;
  const once = valueAt(searcher, "stop_once");
  return typeof once === "boolean" ? !once : otherwise;
}

function modeOf(mode: Json | undefined): AdaptiveAshaSearcher["mode"] {
  return mode === "aggressive" || mode === "conservative" ? mode : "standard";
}

/** A searcher section that passed every check, if it is one of these. */
export function normaliseHalving(
  searcher: JsonObject,
  metric: string,
  smaller_is_better: boolean,
): HalvingSearcher | null {
  const max_time = numberAt(searcher, "max_time", 1);
  const timeMetric = valueAt(searcher, "time_metric");
  const timed = (divisor: number): Timed => ({
    metric,
    smaller_is_better,
    max_time,
    time_metric: typeof timeMetric === "string" ? timeMetric : "",
    divisor: numberAt(searcher, "divisor", divisor),
    max_concurrent_trials: numberAt(searcher, "max_concurrent_trials", defaults.concurrentTrials),
  });
  const max_trials = numberAt(searcher, "max_trials", 0);
  const rising = (): Timed & { readonly max_trials: number; readonly min_time: number } => {
    const common = timed(defaults.ownDivisor);
    const first = Math.floor(max_time / common.divisor ** defaults.halvings);
    return { ...common, max_trials, min_time: numberAt(searcher, "min_time", Math.max(1, first)) };
  };
  switch (valueAt(searcher, "name")) {
    case "asha":
      return { name: "asha", ...rising(), resume: resumeAt(searcher, true) };
    case "bohb":
      return { name: "bohb", ...rising(), resume: resumeAt(searcher, true) };
    case "auto":
      return { name: "auto", ...rising() };
    case "async_halving": {
      const num_rungs = numberAt(searcher, "num_rungs", 1);
      const resume = resumeAt(searcher, false);
      return { name: "async_halving", ...timed(defaults.divisor), max_trials, num_rungs, resume };
    }
    case "adaptive_asha": {
      const rungs = valueAt(searcher, "bracket_rungs");
      return {
        name: "adaptive_asha",
        ...timed(defaults.divisor),
        max_trials,
        mode: modeOf(valueAt(searcher, "mode")),
        max_rungs: numberAt(searcher, "max_rungs", defaults.rungs),
        bracket_rungs: Array.isArray(rungs) ? rungs.map(Number) : [],
        resume: resumeAt(searcher, false),
      };
    }
    case "hyperband":
      return { name: "hyperband", ...timed(defaults.ownDivisor), max_trials };
    default:
      return null;
  }
}

/**
 * The largest whole k with divisor^k ≤ x, 0 for x < divisor; counted in products, since log 1000 / log 10 is less than 3
 * in floating point. No more than `most`, so that a divisor near 1 comes to an end.
 */
export function floorLog(x: number, divisor: number, most: number): number {
  let k = 0;
  for (let product = divisor; product <= x && k < most; product *= divisor) k += 1;
  return k;
}

const HALVINGS_MAX = 64;

/**
 * The trials of one round of Hyperband's brackets, from that of the most halvings down to that of none (Li et al., JMLR
 * 18-185, algorithm 1): ⌈(s_max + 1) η^s / (s + 1)⌉.
 */
export function hyperbandTrials(maxTime: number, divisor: number): number[] {
  const most = floorLog(maxTime, divisor, HALVINGS_MAX);
  const trials: number[] = [];
  for (let halvings = 0, power = 1; halvings <= most; halvings += 1, power *= divisor) {
    trials.unshift(Math.ceil(((most + 1) * power) / (halvings + 1)));
  }
  return trials;
}
