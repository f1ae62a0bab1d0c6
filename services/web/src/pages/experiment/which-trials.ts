/** The choice of trials that are shown if not all fit: pure. */
export const whichTrials = ["best", "latest", "first"] as const;
export type WhichTrials = (typeof whichTrials)[number];

/** The most trials in one query of metrics. */
export const drawnMax = 200;

/** The size of the largest page of a list of trials. */
export const trialsMax = 1_000;

export const readWhich = (text: string | undefined): WhichTrials =>
  whichTrials.find((which) => which === text) ?? "best";

/** Returns the API's orderBy that lists the shown trials first. */
export function orderOf(which: WhichTrials, smallerIsBetter: boolean): string {
  if (which === "best") return smallerIsBetter ? "best_value" : "best_value desc";
  return which === "latest" ? "number desc" : "number";
}

/** Returns the choice that matches a list's order, by number for an empty order; null for any other order. */
export function whichOf(orderBy: string, smallerIsBetter: boolean): WhichTrials | null {
  const order = orderBy === "" ? "number" : orderBy;
  return whichTrials.find((which) => orderOf(which, smallerIsBetter) === order) ?? null;
}

export function whichText(which: WhichTrials, metric: string): string {
  return which === "best" ? `the best by ${metric}` : `the ${which}`;
}

type Trial = { readonly number: number; readonly bestValue?: number | undefined };

/**
 * The trials whose curves are drawn: all if they fit, else the selected ones, followed by the best, the latest or the
 * first.
 */
export function drawnOf<Of extends Trial>(
  trials: readonly Of[],
  which: WhichTrials,
  selected: ReadonlySet<number>,
  smallerIsBetter: boolean,
): readonly Of[] {
  if (trials.length <= drawnMax) return trials;
  const rank = ({ number, bestValue }: Trial): number => {
    if (selected.has(number)) return Number.NEGATIVE_INFINITY;
    if (which !== "best") return which === "latest" ? -number : number;
    if (bestValue === undefined) return Number.POSITIVE_INFINITY;
    return smallerIsBetter ? bestValue : -bestValue;
  };
  const ranked = trials.map((trial) => ({ trial, rank: rank(trial) }));
  return ranked
    .toSorted((a, b) => (a.rank < b.rank ? -1 : Number(a.rank > b.rank)))
    .slice(0, drawnMax)
    .map(({ trial }) => trial);
}
