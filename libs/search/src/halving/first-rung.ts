/**
 * Measures whether the first rung of a search can be trusted. Successive halving assumes that early values predict
 * later ones. If they do not, it promotes the wrong trials, and every trial trains to a useless rung.
 *
 * The measure is Spearman's rank correlation between values at the first rung and later values of the first trials that
 * reach it, since no selection has biased these:
 * - With the next rung: the first trials continue to it whatever their values. A few are enough if the correlation is
 *   clear; otherwise more are measured.
 * - With the rung after it, once the next one agrees, since two rungs may mislead together: the best and the worst of
 *   those trials continue once more. This is done only if it is cheap beside a full training and beside the training
 *   spent so far. Until then the values of promoted trials are used, which cost nothing.
 *
 * A trial that continues only to be measured is a probe. It returns to its rung and counts at no higher rung unless it
 * is promoted; its known values then count at once. A probe therefore costs only its own steps, and promotes no other
 * trial.
 *
 * If one of the two correlations is too low, the first rung rises: new trials train to the next rung before they are
 * compared, the trials that wait below are stopped, and the correlations are measured again. The first rung never
 * falls, and at least two rungs remain.
 */

/**
 * The number of trials to measure, the correlation from which the first rung is trusted, and the one below which it
 * rises.
 */
export type TrustLevel = {
  readonly asked: number;
  readonly trusted: number;
  readonly doubted: number;
};

export type TrustPlan = {
  /** The levels of measurement: the next one is used if the correlation is unclear, and the last one always decides. */
  readonly levels: readonly TrustLevel[];
  /** The number of probes (trials that train on only to be compared) up to the rung after the next. */
  readonly later: number;
  /** The correlation of ranks below which a higher rung becomes the first one. */
  readonly laterThreshold: number;
  /** The largest share of a full training that reaching the rung after the next may cost. */
  readonly laterShare: number;
};

/** A measured trial with its known values at the first rung and the rungs after it. */
export type Probe = { readonly trial: number; readonly brought: readonly number[] };

export type Measured = readonly [first: number, later: number];

export type Correlation = {
  readonly measured: number;
  /** The rank correlation; null before any measurement. */
  readonly value: number | null;
};

export type Trust = {
  /** The lowest rung at which trials are compared. */
  readonly first: number;
  /** The rung to which probes train: `next` after the first, `later` for the rung after that, or none. */
  readonly question: "next" | "later" | "none";
  readonly level: number;
  readonly asked: readonly Probe[];
  /** The trials that train to the rung after the next, as probes; empty while this comparison is postponed. */
  readonly later: readonly number[];
  /** The waiting trials that become probes as soon as there is room. */
  readonly owed: readonly number[];
};

/** The first rung is measured only if at least two rungs are above it, so that three exist. */
const RUNGS_ASKED = 3;

/** The initial state at a first rung, out of `rungs` in all; `asked` are the measured trials of the rung below. */
export function trustAt(
  plan: TrustPlan | undefined,
  first: number,
  rungs: number,
  asked: readonly Probe[] = [],
): Trust {
  const asks = plan !== undefined && first + RUNGS_ASKED <= rungs;
  return { first, question: asks ? "next" : "none", level: 0, asked, later: [], owed: [] };
}

export function probeOf({ asked }: Trust, trial: number): Probe | undefined {
  return asked.find((other) => other.trial === trial);
}

function levelOf({ levels }: TrustPlan, { level }: Trust): TrustLevel {
  return levels[level] ?? { asked: 0, trusted: 0, doubted: 0 };
}

/** Whether the next trial at the first rung becomes a probe. */
export function asksMore(plan: TrustPlan, trust: Trust): boolean {
  return trust.question === "next" && trust.asked.length < levelOf(plan, trust).asked;
}

/** The rung to which the trial trains as a probe; undefined if it is none. */
export function probeRung(
  { first, question, asked, later }: Trust,
  trial: number,
): number | undefined {
  if (question === "none") return undefined;
  const known = asked.find((other) => other.trial === trial)?.brought.length;
  if (question === "next") return known === 1 ? first + 1 : undefined;
  return known === 2 && later.includes(trial) ? first + 2 : undefined;
}

/** Adds the trial's value at the next rung that it has reached. */
export function withBrought(trust: Trust, trial: number, value: number): Trust {
  const asked = trust.asked.map((one) =>
    one.trial === trial ? { trial, brought: [...one.brought, value] } : one,
  );
  return { ...trust, asked };
}

/**
 * Removes a trial that will not report again: another probe replaces it, or the measurement of the later rung is
 * dropped.
 */
export function withoutAnswerOf(trust: Trust, trial: number): Trust {
  const { question, asked } = trust;
  const known = probeOf(trust, trial)?.brought.length;
  if (known === undefined) return trust;
  const owed = trust.owed.filter((other) => other !== trial);
  if (question === "next" && known === 1) {
    return { ...trust, owed, asked: asked.filter((other) => other.trial !== trial) };
  }
  const dropped = question === "later" && known === 2 && trust.later.includes(trial);
  return dropped ? { ...trust, owed: [], question: "none" } : { ...trust, owed };
}

export type Answer = "waits" | "asks_more" | "trusted" | "rises";

/** Returns the result of the measurement so far. */
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

function correlationOf(asked: readonly Probe[], ahead: number): Correlation {
  const pairs = asked.flatMap(({ brought }): readonly Measured[] => {
    const [early, late] = [brought[0], brought[ahead]];
    return early === undefined || late === undefined ? [] : [[early, late]];
  });
  return { measured: pairs.length, value: pairs.length === 0 ? null : rankCorrelation(pairs) };
}

/** Whether the rung after the next is not the last one, and is cheap to reach. */
export function maySeeLater(
  { later, laterShare }: TrustPlan,
  first: number,
  units: readonly number[],
): boolean {
  const at = units[first + 2] ?? Number.POSITIVE_INFINITY;
  return later > 0 && first + RUNGS_ASKED < units.length && at <= laterShare * (units.at(-1) ?? 0);
}

/** Whether the measurement of the later rung is postponed until it is cheap beside the training so far. */
export function isPutOff({ question, later }: Trust): boolean {
  return question === "later" && later.length === 0;
}

/**
 * The best and the worst trials at the first rung, half each, as they are the most informative; empty with too few
 * trials.
 */
export function extremes(asked: readonly Probe[], count: number): readonly number[] {
  if (asked.length < count) return [];
  const ranked = asked.toSorted((a, b) => (a.brought[0] ?? 0) - (b.brought[0] ?? 0));
  const worst = Math.floor(count / 2);
  const chosen = [...ranked.slice(0, count - worst), ...ranked.slice(ranked.length - worst)];
  return chosen.map(({ trial }) => trial);
}

/** Spearman's rank correlation, with mean ranks for equal values; 0 if one side has only equal values. */
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
