/**
 * The rows of a live list while a user is in it: their order is fixed, and their contents follow the list. Rows that
 * were added between them or moved are held back, and rows that were removed stay in their place, until the changes are
 * shown. Rows after the last known one, such as the next page, are appended, since that moves no row. Pure.
 */
export type Held<Row> = {
  readonly rows: readonly Row[];
  /** The number of new rows that are held back. */
  readonly added: number;
  /** The ids of shown rows that the list does not have any more. */
  readonly gone: ReadonlySet<string>;
  /** Rows have another order in the list than on the page. */
  readonly moved: boolean;
};

/** The changes that are held back. */
export type HeldBack = Omit<Held<unknown>, "rows">;

const none: ReadonlySet<string> = new Set();

/** The latest rows as they are, with nothing held back. */
export const freeRows = <Row>(rows: readonly Row[]): Held<Row> => ({
  rows,
  added: 0,
  gone: none,
  moved: false,
});

/**
 * Returns the rows that were shown before, with the contents of the latest ones. With other parts of the page below the
 * list, nothing may be appended.
 */
export function heldRows<Row>(
  before: readonly Row[],
  latest: readonly Row[],
  idOf: (row: Row) => string,
  appends = true,
): Held<Row> {
  const byId = new Map(latest.map((row) => [idOf(row), row]));
  const known = new Set(before.map(idOf));
  const isKnown = (row: Row): boolean => known.has(idOf(row));
  const appended = appends ? latest.slice(latest.findLastIndex(isKnown) + 1) : [];
  const remaining = latest.filter(isKnown);
  const inPlace = before.filter((row) => byId.has(idOf(row)));
  return {
    rows: [...before.map((row) => byId.get(idOf(row)) ?? row), ...appended],
    added: latest.length - appended.length - remaining.length,
    gone: new Set(before.map(idOf).filter((id) => !byId.has(id))),
    moved: remaining.some((row, at) => idOf(row) !== idOf(inPlace[at] ?? row)),
  };
}

/** Names what is held back, as "3 new, show"; empty for nothing. */
export function heldText({ added, gone, moved }: HeldBack): string {
  const parts = [
    ...(added === 0 ? [] : [`${added} new`]),
    ...(gone.size === 0 ? [] : [`${gone.size} gone`]),
    ...(moved ? ["new order"] : []),
  ];
  return parts.length === 0 ? "" : `${parts.join(", ")}, show`;
}
