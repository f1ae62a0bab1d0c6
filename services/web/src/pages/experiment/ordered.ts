/** The order of the trials' table: the best first, unless the user chooses another. Pure. */
import { readSort, type Sort, sortText } from "../../components/table/sort.ts";
import { orderOf, trialsMax } from "./which-trials.ts";

type Of = { readonly trials: number; readonly smallerIsBetter: boolean };

/** Reads the order of the URL; the best first without one. */
export const trialSort = (text: string | undefined, { smallerIsBetter }: Of): Sort | null =>
  readSort(text ?? orderOf("best", smallerIsBetter));

/**
 * The order that the server is asked for. It is none for the best trials of an experiment that is read whole: then new
 * trials are inserted without a read, and `ordered` sorts them by values that change.
 */
export function requestedOrder(sort: Sort | null, { trials, smallerIsBetter }: Of): string {
  const text = sortText(sort);
  return text === orderOf("best", smallerIsBetter) && trials <= trialsMax ? "" : text;
}

type Valued = { readonly number: number; readonly bestValue?: number | undefined };

/** Sorts loaded trials by their best value, if that is the order: those without one come last, by number. */
export function ordered<Row extends Valued>(
  trials: readonly Row[],
  sort: Sort | null,
): readonly Row[] {
  if (sort?.field !== "best_value") return trials;
  const rank = ({ bestValue }: Valued): number => {
    if (bestValue === undefined || Number.isNaN(bestValue)) return Number.POSITIVE_INFINITY;
    return sort.descending ? -bestValue : bestValue;
  };
  return trials.toSorted((one, other) => {
    const [a, b] = [rank(one), rank(other)];
    return a === b ? one.number - other.number : a - b;
  });
}
