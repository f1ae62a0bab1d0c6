import { count, counted } from "./format.ts";

/** The number of rows of a list. The server estimates it above some number. */
export type ListTotal = { readonly total: number; readonly isEstimate: boolean };

export const exactly = (total: number): ListTotal => ({ total, isEstimate: false });

type Counted = {
  readonly items: readonly unknown[];
  readonly total?: number | undefined;
  readonly totalIsEstimate?: boolean | undefined;
};

/** Returns the number of rows: that of the loaded ones if no others follow, since rows change while a page is open. */
export function listTotal(first: Counted | undefined, loaded: number, hasMore: boolean): ListTotal {
  if (!hasMore) return exactly(loaded);
  return {
    total: Math.max(first?.total ?? 0, loaded),
    isEstimate: first?.totalIsEstimate === true,
  };
}

const about = ({ isEstimate }: ListTotal): string => (isEstimate ? "about " : "");

/** Formats a number of rows, as "about 25,800". */
export const totalText = (of: ListTotal): string => `${about(of)}${count(of.total)}`;

/** Formats a number of things, as "about 25,800 trials". */
export const totalOf = (of: ListTotal, noun: string): string =>
  `${about(of)}${counted(of.total, noun)}`;
