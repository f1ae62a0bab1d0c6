/**
 * The layout of a table: the shown columns, their order and widths, and the columns pinned at the left. Pure; it can be
 * written as text for the URL.
 */
import type { ReactNode } from "react";

export type Column<Row> = {
  readonly id: string;
  readonly title: string;
  /** The width in pixels, until the user chooses another. */
  readonly width: number;
  /** Numbers are right-aligned, in digits of equal width. */
  readonly right?: boolean;
  /** Ids are in a monospaced font. */
  readonly mono?: boolean;
  /** The server's name for sorting by this column; absent if it cannot. */
  readonly sort?: string;
  readonly cell: (row: Row) => ReactNode;
  /** The cell's text in a CSV file. */
  readonly text: (row: Row) => string;
};

/** A shown column. */
export type ColumnChoice = {
  readonly id: string;
  /** The chosen width; absent: the column's default. */
  readonly width?: number;
  readonly pinned?: boolean;
};

/** The shown columns in order, pinned ones first. */
export type ColumnLayout = readonly ColumnChoice[];

export type PlacedColumn<Row> = {
  readonly column: Column<Row>;
  readonly width: number;
  readonly pinned: boolean;
  /** The distance of the column from the left of the table, in pixels. */
  readonly left: number;
};

const widthMin = 48;
const widthMax = 1_000;

const bounded = (width: number): number =>
  Math.round(Math.min(widthMax, Math.max(widthMin, width)));

/** Places columns; the first begins at `from`. Unknown columns are left out and return once the table knows them. */
export function placeColumns<Row>(
  columns: readonly Column<Row>[],
  layout: ColumnLayout,
  from = 0,
): readonly PlacedColumn<Row>[] {
  const byId = new Map(columns.map((column) => [column.id, column]));
  let left = from;
  return layout.flatMap(({ id, width, pinned = false }) => {
    const column = byId.get(id);
    if (column === undefined) return [];
    const placed = { column, width: bounded(width ?? column.width), pinned, left };
    left += placed.width;
    return [placed];
  });
}

export function widthOf(placed: readonly PlacedColumn<never>[], from = 0): number {
  const last = placed.at(-1);
  return last === undefined ? from : last.left + last.width;
}

export const isShown = (layout: ColumnLayout, id: string): boolean =>
  layout.some((choice) => choice.id === id);

/** Shows a hidden column in last place, or hides a shown one; the last shown column stays. */
export function withShown(layout: ColumnLayout, id: string, show: boolean): ColumnLayout {
  if (isShown(layout, id) === show) return layout;
  if (show) return [...layout, { id }];
  return layout.length === 1 ? layout : layout.filter((choice) => choice.id !== id);
}

/** Pins or unpins a column, which moves to the border between pinned and other columns. */
export function withPinned(layout: ColumnLayout, id: string, pinned: boolean): ColumnLayout {
  const choice = layout.find((one) => one.id === id);
  if (choice === undefined || (choice.pinned === true) === pinned) return layout;
  const others = layout.filter((one) => one.id !== id);
  const border = others.filter((one) => one.pinned === true).length;
  const { pinned: _was, ...rest } = choice;
  return others.toSpliced(border, 0, pinned ? { ...rest, pinned } : rest);
}

export function withWidth(layout: ColumnLayout, id: string, width: number): ColumnLayout {
  return layout.map((choice) => (choice.id === id ? { ...choice, width: bounded(width) } : choice));
}

/** Moves a column by one place, to the left or the right, among pinned or among other columns. */
export function withMoved(layout: ColumnLayout, id: string, by: -1 | 1): ColumnLayout {
  const at = layout.findIndex((choice) => choice.id === id);
  const [choice, other] = [layout[at], layout[at + by]];
  if (choice === undefined || other === undefined) return layout;
  if ((choice.pinned === true) !== (other.pinned === true)) return layout;
  return layout.with(at, other).with(at + by, choice);
}

/**
 * Writes the layout as a part of the URL: "*id,*name@320,state", with a star for pinned columns and each chosen width.
 */
export function layoutText(layout: ColumnLayout): string {
  return layout
    .map(({ id, width, pinned = false }) => {
      const name = id.replace(/[%,@*]/g, (sign) => encodeURIComponent(sign).replace("*", "%2A"));
      return `${pinned ? "*" : ""}${name}${width === undefined ? "" : `@${width}`}`;
    })
    .join(",");
}

/** Reads the text of layoutText; null for a text without a column. */
export function readLayout(text: string): ColumnLayout | null {
  const choices = new Map<string, ColumnChoice>();
  for (const part of text.split(",")) {
    const found = /^(\*?)([^@*]+)(?:@(\d{1,4}))?$/.exec(part);
    const id = decoded(found?.[2] ?? "");
    if (found === null || id === "" || choices.has(id)) continue;
    choices.set(id, {
      id,
      ...(found[3] === undefined ? {} : { width: bounded(Number(found[3])) }),
      ...(found[1] === "*" ? { pinned: true } : {}),
    });
  }
  const all = [...choices.values()];
  const sorted = [...all.filter((one) => one.pinned), ...all.filter((one) => !one.pinned)];
  return sorted.length === 0 ? null : sorted;
}

/** Returns an empty text for a wrong encoding. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
