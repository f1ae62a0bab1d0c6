/**
 * The brackets of successive halving: the number of trials and the rung times of each.
 *
 * Adaptive ASHA and async_halving use Determined's arithmetic (0.38, `master/pkg/searcher`: adaptive_asha.go,
 * asha_stopping.go). The exception is that logarithms are computed by repeated multiplication, because log 1000 / log
 * 10 is less than 3 in floating point, which would lose a rung. Hyperband uses algorithm 1 of Li et al., JMLR 18-185.
 */

import { floorLog, hyperbandTrials } from "@trainyard/experiment-config";
import { integerPower } from "../numeric/math.ts";
import type { TrustPlan } from "./first-rung.ts";

/**
 * `promote` suspends each trial at a rung and resumes the best. `stop` ends a trial that is not good enough at its
 * arrival. `wait` promotes from a rung once all of its trials have arrived (synchronous halving).
 */
export type HalvingForm = "promote" | "stop" | "wait";

export type BracketPlan = {
  /** The increasing times of the rungs; the last one ends a trial. */
  readonly units: readonly number[];
  /** The number of trials that count. */
  readonly trials: number;
  /** The number of trials that should run at a time. */
  readonly concurrent: number;
};

export type HalvingPlan = {
  readonly form: HalvingForm;
  readonly divisor: number;
  readonly brackets: readonly BracketPlan[];
  /** The number of trials that should run at a time, over all brackets. */
  readonly concurrent: number;
  /** Enables the measurement of the first rung, which may rise; only for plans with one bracket. */
  readonly trust?: TrustPlan;
  /**
   * A trial that reaches a rung above the first with the best value so far is promoted, however few trials have reached
   * the rung.
   */
  readonly bestGoesOn?: true;
};

export type AdaptiveMode = "aggressive" | "standard" | "conservative";

/** The times of `rungs` rungs up to `maxTime`, each the next one's divided by `divisor`, and at least 1. */
export function rungUnits(rungs: number, maxTime: number, divisor: number): number[] {
  let share = 1;
  const units: number[] = [];
  for (let rung = 0; rung < rungs; rung += 1) {
    units.unshift(Math.max(Math.floor(maxTime / share), 1));
    share *= divisor;
  }
  return units;
}

/** The times from `minTime` in factors of the divisor, and `maxTime` itself. */
export function risingUnits(minTime: number, maxTime: number, divisor: number): number[] {
  const units: number[] = [];
  for (let at = minTime; Math.floor(at) < maxTime; at *= divisor) units.push(Math.floor(at));
  return [...new Set(units), maxTime];
}

/** The numbers of rungs of a mode's brackets, the largest first. */
export function adaptiveRungs(
  mode: AdaptiveMode,
  limits: {
    readonly maxRungs: number;
    readonly maxTime: number;
    readonly maxTrials: number;
    readonly divisor: number;
  },
): number[] {
  const { maxRungs, maxTime, maxTrials, divisor } = limits;
  const byTime = floorLog(maxTime, divisor, maxRungs) + 1;
  const most = Math.min(maxRungs, byTime, floorLog(maxTrials, divisor, maxRungs) + 1);
  const least =
    mode === "aggressive" ? most : mode === "standard" ? Math.floor((most - 1) / 2) + 1 : 1;
  return Array.from({ length: most - least + 1 }, (_, i) => most - i);
}

/**
 * The trials of each bracket, so that all brackets have the same budget: at least one each, with the remainder to the
 * first.
 */
export function bracketTrials(
  maxTrials: number,
  divisor: number,
  bracketRungs: readonly number[],
): number[] {
  const weights = bracketRungs.map((rungs) => integerPower(divisor, rungs - 1) / rungs);
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const trials = weights.map((weight) => Math.max(Math.floor((weight / sum) * maxTrials), 1));
  const given = trials.reduce((total, share) => total + share, 0);
  return trials.map((share, i) => (i === 0 ? share + Math.max(maxTrials - given, 0) : share));
}

/** The trials of each bracket that may run at a time; with `maxConcurrent` 0, the brackets' sizes decide. */
export function bracketConcurrency(
  maxConcurrent: number,
  divisor: number,
  trials: readonly number[],
): number[] {
  if (maxConcurrent === 0) {
    const each = Math.max(trials.at(-1) ?? 1, Math.floor(divisor));
    return trials.map(() => each);
  }
  const all = Math.max(maxConcurrent, trials.length);
  const each = Math.floor(all / trials.length);
  return trials.map((_, i) => (i < all % trials.length ? each + 1 : each));
}

/** The brackets of adaptive ASHA, the one with the most rungs first. */
export function adaptiveBrackets(settings: {
  readonly bracketRungs: readonly number[];
  readonly maxTime: number;
  readonly maxTrials: number;
  readonly maxConcurrent: number;
  readonly divisor: number;
}): BracketPlan[] {
  const { maxTime, maxTrials, maxConcurrent, divisor } = settings;
  const rungs = [...settings.bracketRungs].sort((a, b) => b - a);
  const trials = bracketTrials(maxTrials, divisor, rungs);
  const concurrent = bracketConcurrency(maxConcurrent, divisor, trials);
  return rungs.map((count, i) => ({
    units: rungUnits(count, maxTime, divisor),
    trials: trials[i] ?? 1,
    concurrent: concurrent[i] ?? 1,
  }));
}

/**
 * The single bracket of asynchronous halving; with `maxConcurrent` 0, as many trials run as one promotion to the top
 * rung needs.
 */
export function halvingBracket(
  units: readonly number[],
  maxTrials: number,
  maxConcurrent: number,
  divisor: number,
): BracketPlan {
  const enough = Math.max(1, Math.floor(integerPower(divisor, units.length - 1)));
  const wanted = maxConcurrent === 0 ? enough : maxConcurrent;
  return { units, trials: maxTrials, concurrent: Math.min(wanted, maxTrials) };
}

/** Hyperband's brackets, the one that halves most first; a `maxTrials` other than 0 scales their sizes to it. */
export function hyperbandBrackets(
  maxTime: number,
  divisor: number,
  maxTrials: number,
): BracketPlan[] {
  const full = hyperbandTrials(maxTime, divisor);
  const trials = maxTrials === 0 ? full : inProportion(full, maxTrials);
  return trials.map((count, i) => ({
    units: rungUnits(full.length - i, maxTime, divisor),
    trials: count,
    concurrent: count,
  }));
}

/**
 * Splits `total` by weights into whole numbers, with the rounding remainder to the first; a too small total leaves the
 * last ones 0.
 */
function inProportion(weights: readonly number[], total: number): number[] {
  const sum = weights.reduce((all, weight) => all + weight, 0);
  const shares = weights.map((weight) => Math.floor((weight / sum) * total));
  const rest = total - shares.reduce((all, share) => all + share, 0);
  return shares.map((share, i) => (i === 0 ? share + rest : share));
}
