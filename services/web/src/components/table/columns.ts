/**
 * The layout of a table: the shown columns, their order and widths, and the columns pinned at the left. Pure; it can be
 * written as text for the URL.
 *
 * Some columns share the width that the others leave, each at least its minimum. A width that a user chose is a share
 * of the table's width, so a link fits the window of its reader too. Columns that do not fit are hidden if the table
 * says which may be; otherwise the table scrolls.
 */
import type { ReactNode } from "react";

export type Column<Row> = {
  readonly id: string;
  readonly title: string;
  /** The width in pixels, until the user chooses another; the weight of a column that shares the rest. */
  readonly width: number;
  /** The minimum in pixels of a column that shares the rest of the width; absent: it always has `width`. */
  readonly min?: number;
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
  /** The chosen width, in thousandths of the table's width; absent: the column's default. */
  readonly share?: number;
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
const shareMin = 10;
const shareMax = 1_000;

const bounded = (share: number): number =>
  Math.round(Math.min(shareMax, Math.max(shareMin, share)));

/** The part of a table that columns share: where the first begins, and where the last should end. */
export type Room = {
  readonly from?: number;
  /** The width of the table; absent until it is measured, and where nothing is drawn. */
  readonly width?: number | undefined;
};

/** Places columns one after the other. Unknown columns are left out and return once the table knows them. */
export function placeColumns<Row>(
  columns: readonly Column<Row>[],
  layout: ColumnLayout,
  room: Room = {},
): readonly PlacedColumn<Row>[] {
  const known = knownOf(columns, layout);
  const widths = widthsOf(known, innerOf(room));
  let left = room.from ?? 0;
  return known.map(({ column, choice: { pinned = false } }, at) => {
    const placed = { column, width: widths[at] ?? column.width, pinned, left };
    left += placed.width;
    return placed;
  });
}

type Known<Row> = { readonly column: Column<Row>; readonly choice: ColumnChoice };

function knownOf<Row>(
  columns: readonly Column<Row>[],
  layout: ColumnLayout,
): readonly Known<Row>[] {
  const byId = new Map(columns.map((column) => [column.id, column]));
  return layout.flatMap((choice) => {
    const column = byId.get(choice.id);
    return column === undefined ? [] : [{ column, choice }];
  });
}

const innerOf = ({ from = 0, width }: Room): number | undefined =>
  width === undefined ? undefined : width - from;

/** The width of a column that shares nothing; undefined for one that shares the rest. */
function fixedOf({ column, choice: { share } }: Known<never>, inner: number): number | undefined {
  if (share !== undefined) return Math.max(widthMin, Math.round((share * inner) / 1_000));
  return column.min === undefined ? column.width : undefined;
}

function widthsOf(known: readonly Known<never>[], inner: number | undefined): readonly number[] {
  if (inner === undefined) return known.map(({ column }) => column.width);
  const widths = known.map((one) => fixedOf(one, inner));
  let rest = inner - widths.reduce<number>((sum, width = 0) => sum + width, 0);
  let sharing = known.flatMap(({ column }, at) =>
    widths[at] === undefined ? [{ column, at }] : [],
  );
  const shareOf = ({ width }: Column<never>, weights: number): number =>
    Math.floor((Math.max(0, rest) * width) / weights);
  // A column at its minimum leaves less for the others, so they are compared again until all of them fit.
  while (sharing.length > 0) {
    const weights = sharing.reduce((sum, { column }) => sum + column.width, 0);
    const small = sharing.filter(({ column }) => shareOf(column, weights) <= (column.min ?? 0));
    const done = small.length > 0 ? small : sharing;
    let given = 0;
    for (const { column, at } of done) {
      const width = small.length > 0 ? (column.min ?? 0) : shareOf(column, weights);
      widths[at] = width;
      given += width;
    }
    rest -= given;
    sharing = sharing.filter((one) => !done.includes(one));
  }
  return widths.map((width = 0) => width);
}

/**
 * Leaves out columns until the others fit, in the order of `giveWay`: the least important first. Returns the layout
 * that is drawn and the columns that are hidden, in the order of the layout.
 */
export function fittedLayout<Row>(
  columns: readonly Column<Row>[],
  layout: ColumnLayout,
  giveWay: readonly string[],
  room: Room,
): { readonly layout: ColumnLayout; readonly hidden: readonly Column<Row>[] } {
  const inner = innerOf(room);
  const known = knownOf(columns, layout);
  if (inner === undefined) return { layout, hidden: [] };
  const leastOf = (one: Known<Row>): number => fixedOf(one, inner) ?? one.column.min ?? 0;
  let needed = known.reduce((sum, one) => sum + leastOf(one), 0);
  const hidden = new Set<string>();
  for (const id of giveWay) {
    const one = known.find(({ column }) => column.id === id);
    if (needed <= inner) break;
    if (one === undefined) continue;
    needed -= leastOf(one);
    hidden.add(id);
  }
  return {
    layout: layout.filter(({ id }) => !hidden.has(id)),
    hidden: known.flatMap(({ column }) => (hidden.has(column.id) ? [column] : [])),
  };
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

/** Chooses a share of the table's width for a column, in thousandths; undefined returns to the column's default. */
export function withShare(
  layout: ColumnLayout,
  id: string,
  share: number | undefined,
): ColumnLayout {
  return layout.map((choice) => {
    if (choice.id !== id) return choice;
    const { share: _was, ...rest } = choice;
    return share === undefined ? rest : { ...rest, share: bounded(share) };
  });
}

/** Gives a column a width in pixels. Columns left of it keep their width, so that its edge follows the pointer. */
export function withWidth(
  layout: ColumnLayout,
  placed: readonly PlacedColumn<never>[],
  id: string,
  width: number,
  room: Room,
): ColumnLayout {
  const inner = Math.max(1, innerOf(room) ?? widthOf(placed));
  const shareOf = (pixels: number): number => (Math.max(widthMin, pixels) * 1_000) / inner;
  const at = placed.findIndex(({ column }) => column.id === id);
  return placed.slice(0, at + 1).reduce<ColumnLayout>((changed, { column, width: now }, index) => {
    const keeps = index < at && column.min === undefined;
    return keeps ? changed : withShare(changed, column.id, shareOf(index === at ? width : now));
  }, layout);
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
 * Writes the layout as a part of the URL: "*id,*name@320,state", with a star for pinned columns and each chosen share.
 */
export function layoutText(layout: ColumnLayout): string {
  return layout
    .map(({ id, share, pinned = false }) => {
      const name = id.replace(/[%,@*]/g, (sign) => encodeURIComponent(sign).replace("*", "%2A"));
      return `${pinned ? "*" : ""}${name}${share === undefined ? "" : `@${share}`}`;
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
      ...(found[3] === undefined ? {} : { share: bounded(Number(found[3])) }),
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
