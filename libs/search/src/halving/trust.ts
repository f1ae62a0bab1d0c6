/**
 * Whether the first rung of a search can be trusted. Successive halving is blind to early values that say nothing of later
 * ones, or the opposite: then it promotes the wrong trials, and every trial pays for a rung for nothing. So the rank
 * correlation (Spearman's) of values at the first rung with later ones is measured, of trials that no selection has bent:
 *
 * - with the next rung: some trials are probes, the first ones and then one in so many, which always go on from the first
 *   rung to the next, whatever their value;
 * - with the rung after it, when the next one has been found to agree, which two rungs that mislead together do: a few of the
 *   probes go on once more. Only where that costs little of a full training.
 *
 * When enough have been measured and one of the two is too low, the first rung rises: new trials train until the next one
 * before they are compared, those that wait below are stopped, and the questions are asked anew. It never falls again,
 * and at least two rungs are left.
 */

export type TrustPlan = {
  /** The first trials are probes, so that the question is answered early. */
  readonly probesFirst: number;
  /** After these one trial in so many. */
  readonly probeEvery: number;
  /** Probes that are measured before the first rung may rise, and with which the question is settled. */
  readonly measuredMin: number;
  readonly measuredMax: number;
  /** The rank correlation with the next rung below which the first rung rises. */
  readonly threshold: number;
  /** Probes that go on to the rung after the next, how many of them are measured at least, and the correlation as above. */
  readonly laterProbes: number;
  readonly laterMin: number;
  readonly laterThreshold: number;
  /** Of a full training, what it may take at most to come to the rung after the next. */
  readonly laterShare: number;
  /** Probes waiting at the new first rung that go on at once when it has risen. */
  readonly probesAfterRise: number;
};

/** What a trial brought to the first rung and to a later one. */
export type Measured = readonly [first: number, later: number];

export type Correlation = {
  readonly measured: readonly Measured[];
  /** Of these; null while nothing has been measured. */
  readonly value: number | null;
};

export type Trust = {
  /** The lowest rung at which trials are compared. */
  readonly first: number;
  /** With the next rung, and with the one after it. */
  readonly next: Correlation;
  readonly later: Correlation;
  /** The probes that go on to the rung after the next; null while that is not asked. */
  readonly laterProbes: readonly number[] | null;
  /** Probes that wait, and go on as soon as there is room. */
  readonly owed: readonly number[];
};

const unknown: Correlation = { measured: [], value: null };

export const fullTrust: Trust = {
  first: 0,
  next: unknown,
  later: unknown,
  laterProbes: null,
  owed: [],
};

/** By its number, and so by nothing that the trial does. */
export function isProbe({ probesFirst, probeEvery }: TrustPlan, trial: number): boolean {
  return trial <= probesFirst || trial % probeEvery === 0;
}

/** With one more; the same when the question is settled. */
export function withMeasured(
  { measuredMax }: TrustPlan,
  correlation: Correlation,
  pair: Measured,
): Correlation {
  if (correlation.measured.length >= measuredMax) return correlation;
  return correlationOf([...correlation.measured, pair]);
}

export function correlationOf(measured: readonly Measured[]): Correlation {
  return { measured, value: measured.length === 0 ? null : rankCorrelation(measured) };
}

/** Where the rung below was found to mislead, the probes that go on at once are enough to doubt this one too. */
function leastMeasured({ measuredMin, probesAfterRise }: TrustPlan, first: number): number {
  return first === 0 ? measuredMin : Math.min(measuredMin, probesAfterRise);
}

/** Whether what has been measured makes the first of so many rungs rise. */
export function rises(plan: TrustPlan, { first, next, later }: Trust, rungs: number): boolean {
  if (first + 3 > rungs) return false;
  return (
    isBelow(next, leastMeasured(plan, first), plan.threshold) ||
    isBelow(later, plan.laterMin, plan.laterThreshold)
  );
}

function isBelow({ measured, value }: Correlation, least: number, threshold: number): boolean {
  return value !== null && measured.length >= least && value < threshold;
}

/** Whether it is time to ask what the rung after the next says: that one is not the last, and cheap to come to. */
export function asksLater(plan: TrustPlan, trust: Trust, units: readonly number[]): boolean {
  const { first, next, laterProbes } = trust;
  if (laterProbes !== null || next.measured.length < leastMeasured(plan, first)) return false;
  const later = units[first + 2] ?? Number.POSITIVE_INFINITY;
  const whole = units.at(-1) ?? 0;
  return first + 3 < units.length && later <= plan.laterShare * whole;
}

/** Spearman's, with the mean rank for equal values; 0 where all are equal on one side. */
export function rankCorrelation(pairs: readonly Measured[]): number {
  const middle = (pairs.length - 1) / 2;
  const before = ranksOf(pairs.map(([early]) => early));
  const after = ranksOf(pairs.map(([, late]) => late));
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
