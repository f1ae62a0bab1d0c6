/** The ids of the selected rows, so that a row that is added to the list later is never selected. */
export type Selection = ReadonlySet<string>;

export const noSelection: ReadonlySet<string> = new Set();

export function toggled(selection: Selection, id: string): Selection {
  const next = new Set(selection);
  if (!next.delete(id)) next.add(id);
  return next;
}

/** Adds all rows between two rows of the list to the selection. */
export function withRange(
  selection: Selection,
  ids: readonly string[],
  from: number,
  to: number,
): Selection {
  return new Set([...selection, ...ids.slice(Math.min(from, to), Math.max(from, to) + 1)]);
}

/** The keyboard's row after a key; null for a key that does not move it. −1 means no row. */
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
