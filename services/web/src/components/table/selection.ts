/** The selected rows: always their ids, so that a row that comes into the list later is never selected. */
export type Selection = ReadonlySet<string>;

export const noSelection: ReadonlySet<string> = new Set();

export function toggled(selection: Selection, id: string): Selection {
  const next = new Set(selection);
  if (!next.delete(id)) next.add(id);
  return next;
}

/** All between two rows of the list, added to what is selected. */
export function withRange(
  selection: Selection,
  ids: readonly string[],
  from: number,
  to: number,
): Selection {
  return new Set([...selection, ...ids.slice(Math.min(from, to), Math.max(from, to) + 1)]);
}

/** The row on which the keyboard is after a key; null for a key that does not move it. −1 is no row. */
export function movedTo(
  key: string,
  active: number,
  rows: number,
  rowsOfPage: number,
): number | null {
  const by = steps(rowsOfPage)[key];
  if (by === undefined || rows === 0) return null;
  return Math.min(rows - 1, Math.max(0, active < 0 && by > 0 ? by - 1 : active + by));
}

const steps = (rowsOfPage: number): Readonly<Record<string, number>> => ({
  j: 1,
  ArrowDown: 1,
  k: -1,
  ArrowUp: -1,
  PageDown: rowsOfPage,
  PageUp: -rowsOfPage,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
});
