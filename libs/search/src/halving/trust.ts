/**
 * Whether the first rung of a search can be trusted. Successive halving is blind to early values that say nothing of later
 * ones, or the opposite: then it promotes the wrong trials, and every trial pays for a rung for nothing. Two questions
 * are asked all the time, each of the rank correlation (Spearman's) of values at the first rung with later ones:
 *
 * - Next: some trials are probes, the first ones and then one in so many. They always go on from the first rung to the
 *   next, whatever their value: a sample that no selection has bent.
 * - Later: of all that have come to the rung after the next, which is not the last one. These were selected by their first
 *   values, which weakens the correlation but does not turn it: where it is negative, the first two rungs agree with each
 *   other and mislead together.
 *
 * When enough have been measured and one of the two is too low, the first rung rises: new trials train until the next one
 * before they are compared, those that wait below are stopped, and both questions are asked anew. It never falls again,
 * and at least two rungs are left.
 */

export type TrustPlan = {
  /** The first trials are probes, so that the question is answered early. */
  readonly probesFirst: number;
  /** After these one trial in so many. */
  readonly probeEvery: number;
  /** Trials that are measured before the first rung may rise, and with which the question is settled. */
  readonly measuredMin: number;
  readonly measuredMax: number;
  /** The rank correlations with the next rung, and with the one after it, below which the first rung rises. */
  readonly threshold: number;
  readonly laterThreshold: number;
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
  /** Of probes, with the next rung. */
  readonly next: Correlation;
  /** Of all trials, with the rung after the next. */
  readonly later: Correlation;
  /** Probes that wait at the first rung and go on as soon as there is room. */
  readonly owed: readonly number[];
};

const unknown: Correlation = { measured: [], value: null };

export const fullTrust: Trust = { first: 0, next: unknown, later: unknown, owed: [] };

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

/** Whether what has been measured makes the first of so many rungs rise. */
export function rises(plan: TrustPlan, { first, next, later }: Trust, rungs: number): boolean {
  if (first + 3 > rungs) return false;
  return (
    isBelow(plan, next, plan.threshold) ||
    (first + 3 < rungs && isBelow(plan, later, plan.laterThreshold))
  );
}

function isBelow(plan: TrustPlan, { measured, value }: Correlation, threshold: number): boolean {
  return value !== null && measured.length >= plan.measuredMin && value < threshold;
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
