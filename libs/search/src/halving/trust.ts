/**
 * Whether the first rung of a search can be trusted. Successive halving is blind to early values that say nothing of later
 * ones, or the opposite: then it promotes the wrong trials, and every trial pays for a rung for nothing. So some trials
 * are probes: the first ones, and then one in so many, always go on from the first rung to the next, whatever their value.
 * They are a sample that no selection has bent, and the rank correlation (Spearman's) of their values at the two rungs
 * tells what the first one is worth. When enough have been measured and it is too low, the first rung rises: new trials
 * train until the next rung before they are compared, those that wait below are stopped, and the question is asked of the
 * next pair of rungs. It never falls again, and at least two rungs are left.
 */
import type { Rung } from "./memory.ts";

export type TrustPlan = {
  /** The first trials are probes, so that the question is answered early. */
  readonly probesFirst: number;
  /** After these one trial in so many. */
  readonly probeEvery: number;
  /** Probes that are measured before the first rung may rise, and with which the question is settled. */
  readonly measuredMin: number;
  readonly measuredMax: number;
  /** The rank correlation below which the first rung rises. */
  readonly threshold: number;
  /** Probes waiting at the new first rung that go on at once when it has risen. */
  readonly probesAfterRise: number;
};

/** What probes brought to the first rung and to the next. */
export type Measured = readonly [first: number, next: number];

export type Trust = {
  /** The lowest rung at which trials are compared. */
  readonly first: number;
  readonly measured: readonly Measured[];
  /** Of these; null while nothing has been measured. */
  readonly correlation: number | null;
  /** Probes that wait at the first rung and go on as soon as there is room. */
  readonly owed: readonly number[];
};

export const fullTrust: Trust = { first: 0, measured: [], correlation: null, owed: [] };

/** By its number, and so by nothing that the trial does. */
export function isProbe({ probesFirst, probeEvery }: TrustPlan, trial: number): boolean {
  return trial <= probesFirst || trial % probeEvery === 0;
}

export function withMeasured(trust: Trust, pair: Measured): Trust {
  const measured = [...trust.measured, pair];
  return { ...trust, measured, correlation: rankCorrelation(measured) };
}

/** Whether what has been measured makes the first rung rise, where `rungs` are left from it on. */
export function rises(
  plan: TrustPlan,
  { first, measured, correlation }: Trust,
  rungs: readonly Rung[],
): boolean {
  if (correlation === null || measured.length < plan.measuredMin) return false;
  return correlation < plan.threshold && first + 3 <= rungs.length;
}

/** Spearman's, with the mean rank for equal values; 0 where all are equal on one side. */
export function rankCorrelation(pairs: readonly Measured[]): number {
  const middle = (pairs.length - 1) / 2;
  const before = ranksOf(pairs.map(([first]) => first));
  const after = ranksOf(pairs.map(([, next]) => next));
  let together = 0;
  let spreadBefore = 0;
  let spreadAfter = 0;
  for (const [i, rank] of before.entries()) {
    const a = rank - middle;
    const b = (after[i] ?? 0) - middle;
    together += a * b;
    spreadBefore += a * a;
    spreadAfter += b * b;
  }
  const spread = Math.sqrt(spreadBefore * spreadAfter);
  return spread === 0 ? 0 : together / spread;
}

function ranksOf(values: readonly number[]): number[] {
  return values.map((value) => {
    let below = 0;
    let equal = 0;
    for (const other of values) {
      if (other < value) below += 1;
      else if (other === value) equal += 1;
    }
    return below + (equal - 1) / 2;
  });
}
