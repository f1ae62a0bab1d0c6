/**
 * Whether the first rung of a search can be trusted. Successive halving assumes that early values predict later ones;
 * where they do not, it promotes the wrong trials, and every trial pays for a rung in vain. So the rank correlation
 * (Spearman's) between values at the first rung and later ones is measured, on the first trials that reach it: no
 * selection has biased these.
 *
 * - With the next rung: the trials asked continue to it, whatever their values. A few are enough where the answer is
 *   clear; otherwise more are asked.
 * - With the rung after it, once the next one was found to agree, since two rungs may mislead together: the best and
 *   the worst of the trials asked continue once more. Only where that is cheap against a full training, and not before
 *   it is cheap against what the search has spent; until then the values of promoted trials are used, which cost
 *   nothing.
 *
 * A trial that continues only because it is asked is a probe: it returns to its rung, and counts at no other until it
 * is promoted, when its values there are known already. So a probe costs its own steps, and no rung lets more trials
 * through because of it.
 *
 * Where one of the two correlations is too low the first rung rises: new trials train until the next one before they
 * are compared, the trials that wait below are stopped, and the correlations are measured again. It never falls, and at
 * least two rungs are left.
 */

/** How many are asked, and the rank correlations from which the first rung is trusted and below which it rises. */
export type TrustLevel = {
  readonly asked: number;
  readonly trusted: number;
  readonly doubted: number;
};

export type TrustPlan = {
  /** One after the other until the answer is clear, which it is at the last. */
  readonly levels: readonly TrustLevel[];
  /** The number of probes to the rung after the next, and the correlation below which the first rung rises. */
  readonly later: number;
  readonly laterThreshold: number;
  /** The largest share of a full training that the rung after the next may cost. */
  readonly laterShare: number;
};

/** The values of a trial at the first rung and at those after it, as far as they are known. */
export type Asked = { readonly trial: number; readonly brought: readonly number[] };

export type Measured = readonly [first: number, later: number];

export type Correlation = {
  readonly measured: number;
  /** Null while nothing has been measured. */
  readonly value: number | null;
};

export type Trust = {
  /** The lowest rung at which trials are compared. */
  readonly first: number;
  /** The rung that is asked about: the next, the one after it, or none any more. */
  readonly question: "next" | "later" | "none";
  readonly level: number;
  readonly asked: readonly Asked[];
  /** The probes to the rung after the next; none while that question is put off. */
  readonly later: readonly number[];
  /** Waiting trials that become probes as soon as there is room. */
  readonly owed: readonly number[];
};

/** The first rung is asked about only if at least two rungs are above it. */
const RUNGS_ASKED = 3;

/** Values at a first rung of this many in all, with those of trials that were asked below it. */
export function trustAt(
  plan: TrustPlan | undefined,
  first: number,
  rungs: number,
  asked: readonly Asked[] = [],
): Trust {
  const asks = plan !== undefined && first + RUNGS_ASKED <= rungs;
  return { first, question: asks ? "next" : "none", level: 0, asked, later: [], owed: [] };
}

export function askedOf({ asked }: Trust, trial: number): Asked | undefined {
  return asked.find((other) => other.trial === trial);
}

function levelOf({ levels }: TrustPlan, { level }: Trust): TrustLevel {
  return levels[level] ?? { asked: 0, trusted: 0, doubted: 0 };
}

/** Whether the next trial at the first rung becomes a probe. */
export function asksMore(plan: TrustPlan, trust: Trust): boolean {
  return trust.question === "next" && trust.asked.length < levelOf(plan, trust).asked;
}

/** The rung to which a trial is a probe; undefined for none. */
export function askedTo(
  { first, question, asked, later }: Trust,
  trial: number,
): number | undefined {
  if (question === "none") return undefined;
  const known = asked.find((other) => other.trial === trial)?.brought.length;
  if (question === "next") return known === 1 ? first + 1 : undefined;
  return known === 2 && later.includes(trial) ? first + 2 : undefined;
}

/** With what one that is asked brought to the rung after those that are known. */
export function withBrought(trust: Trust, trial: number, value: number): Trust {
  const asked = trust.asked.map((one) =>
    one.trial === trial ? { trial, brought: [...one.brought, value] } : one,
  );
  return { ...trust, asked };
}

/** Without a trial that will report no more: another is asked, or the question about the later rung is dropped. */
export function withoutAnswerOf(trust: Trust, trial: number): Trust {
  const { question, asked } = trust;
  const known = askedOf(trust, trial)?.brought.length;
  if (known === undefined) return trust;
  const owed = trust.owed.filter((other) => other !== trial);
  if (question === "next" && known === 1) {
    return { ...trust, owed, asked: asked.filter((other) => other.trial !== trial) };
  }
  const dropped = question === "later" && known === 2 && trust.later.includes(trial);
  return dropped ? { ...trust, owed: [], question: "none" } : { ...trust, owed };
}

export type Answer = "waits" | "asks_more" | "trusted" | "rises";

/** The answer, from the values of the trials asked. */
export function answerOf(plan: TrustPlan, trust: Trust): Answer {
  const { question, asked, later } = trust;
  if (question === "none") return "waits";
  if (question === "later") {
    const { measured, value } = correlationLater(trust);
    if (isPutOff(trust) || measured < later.length) return "waits";
    return (value ?? 0) < plan.laterThreshold ? "rises" : "trusted";
  }
  const level = levelOf(plan, trust);
  const { measured, value } = correlationNext(trust);
  if (asked.length < level.asked || measured < asked.length) return "waits";
  if ((value ?? 0) >= level.trusted) return "trusted";
  return (value ?? 0) < level.doubted ? "rises" : "asks_more";
}

export function correlationNext({ asked }: Trust): Correlation {
  return correlationOf(asked, 1);
}

export function correlationLater({ asked, later }: Trust): Correlation {
  return correlationOf(
    asked.filter(({ trial }) => later.includes(trial)),
    2,
  );
}

function correlationOf(asked: readonly Asked[], ahead: number): Correlation {
  const pairs = asked.flatMap(({ brought }): readonly Measured[] => {
    const [early, late] = [brought[0], brought[ahead]];
    return early === undefined || late === undefined ? [] : [[early, late]];
  });
  return { measured: pairs.length, value: pairs.length === 0 ? null : rankCorrelation(pairs) };
}

/** Whether the rung after the next is not the last, and cheap to reach. */
export function maySeeLater(
  { later, laterShare }: TrustPlan,
  first: number,
  units: readonly number[],
): boolean {
  const at = units[first + 2] ?? Number.POSITIVE_INFINITY;
  return later > 0 && first + RUNGS_ASKED < units.length && at <= laterShare * (units.at(-1) ?? 0);
}

/** Whether the question about the later rung waits until it costs little beside what has been spent. */
export function isPutOff({ question, later }: Trust): boolean {
  return question === "later" && later.length === 0;
}

/**
 * The best and the worst at the first rung, half of each: they are the most informative. None where there are too few.
 */
export function extremes(asked: readonly Asked[], count: number): readonly number[] {
  if (asked.length < count) return [];
  const ranked = asked.toSorted((a, b) => (a.brought[0] ?? 0) - (b.brought[0] ?? 0));
  const worst = Math.floor(count / 2);
  const chosen = [...ranked.slice(0, count - worst), ...ranked.slice(ranked.length - worst)];
  return chosen.map(({ trial }) => trial);
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
