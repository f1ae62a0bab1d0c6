/**
 * The layout of hyperparameters against the metric: the dots of a scatter plot, and the cells of a heat map of two
 * hyperparameters. Axes are those of parallel coordinates, with share 0 at the left and at the bottom. Pure.
 */
import { own } from "../../data/own.ts";
import type { Axis, Row, Value } from "../parallel/layout.ts";

/** The rectangle of the plot within its canvas, in CSS pixels. */
export type Frame = {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
};

export type Dot = {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  /** The rank of the metric among all rows: 1 is the best, 0 the worst. */
  readonly merit: number;
};

/** The plot's frame, with space for ticks at the left and at the bottom. */
export function frameOf(width: number, height: number): Frame {
  const [left, right, top, bottom] = [64, 28, 10, 24];
  return {
    left,
    top,
    width: Math.max(1, width - left - right),
    height: Math.max(1, height - top - bottom),
  };
}

const xOf = (share: number, { left, width }: Frame): number => left + share * width;
const yOf = (share: number, { top, height }: Frame): number => top + (1 - share) * height;

/** A category is placed in the middle of its part of the axis, never at the axis's ends. */
const middled = ({ kind, ticks }: Axis, share: number): number =>
  kind === "category" ? (share * (ticks.length - 1) + 0.5) / ticks.length : share;

/** Offsets from -0.5 to 0.5 in steps of the golden ratio, which spreads any number of values evenly. */
const spread = (index: number): number => ((index * 0.618_034) % 1) - 0.5;

/** A dot for each row with both values. Rows of one category are spread beside each other. */
export function dotsOf(
  rows: readonly Row[],
  across: Axis,
  up: Axis,
  smallerIsBetter: boolean,
  frame: Frame,
): readonly Dot[] {
  const gap = across.kind === "category" ? 1 / across.ticks.length : 0;
  return rows.flatMap(({ id, values }, index) => {
    const share = across.shareOf(own(values, across.name));
    const metric = up.shareOf(own(values, up.name));
    if (Number.isNaN(share) || Number.isNaN(metric)) return [];
    const placed = middled(across, share) + spread(index) * gap * 0.6;
    const merit = smallerIsBetter ? 1 - metric : metric;
    return [{ id, x: xOf(placed, frame), y: yOf(metric, frame), merit }];
  });
}

/** The dot nearest to a point; null if no dot is within reach. */
export function nearestDot(dots: readonly Dot[], x: number, y: number, reach: number): Dot | null {
  const distance = (dot: Dot): number => Math.hypot(dot.x - x, dot.y - y);
  const found = dots.reduce<Dot | null>(
    (best, dot) => (best === null || distance(dot) < distance(best) ? dot : best),
    null,
  );
  return found !== null && distance(found) <= reach ? found : null;
}

export type Cell = {
  readonly column: number;
  /** The row, counted from the bottom. */
  readonly row: number;
  readonly ids: readonly string[];
  /** The mean of the metric. */
  readonly mean: number;
  /** The rank among the means of all cells: 1 is the best, 0 the worst. */
  readonly merit: number;
  /** The values of the cell's rows on the two axes, as texts. */
  readonly across: string;
  readonly up: string;
};

export type Heat = {
  readonly columns: number;
  readonly rows: number;
  /** The cells that have rows. */
  readonly cells: readonly Cell[];
};

/** The number of bins of a numeric axis: fine enough to show a slope, coarse enough for several trials per cell. */
const binsOfNumbers = 8;

const binsOf = ({ kind, ticks }: Axis): number =>
  kind === "category" ? ticks.length : binsOfNumbers;

function binOf(share: number, { kind }: Axis, bins: number): number {
  return kind === "category"
    ? Math.round(share * (bins - 1))
    : Math.min(bins - 1, Math.floor(share * bins));
}

/** Builds a heat map. Rows without one of the two values, or without a finite metric, are left out. */
export function heatOf(
  rows: readonly Row[],
  across: Axis,
  up: Axis,
  metric: string,
  smallerIsBetter: boolean,
): Heat {
  const [columns, lines] = [binsOf(across), binsOf(up)];
  const groups = new Map<number, Row[]>();
  for (const row of rows) {
    const column = binOf(across.shareOf(own(row.values, across.name)), across, columns);
    const line = binOf(up.shareOf(own(row.values, up.name)), up, lines);
    const place = line * columns + column;
    if (Number.isNaN(place) || !Number.isFinite(own(row.values, metric))) continue;
    const group = groups.get(place);
    if (group === undefined) groups.set(place, [row]);
    else group.push(row);
  }
  const means = new Map([...groups].map(([place, some]) => [place, meanOf(some, metric)]));
  const least = [...means.values()].reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const most = [...means.values()].reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  // Halving keeps the difference of the largest numbers finite, and makes that of the smallest ones 0.
  const range = most / 2 - least / 2;
  const cells = [...groups].map(([place, some]): Cell => {
    const mean = means.get(place) ?? Number.NaN;
    const share = range > 0 ? (mean / 2 - least / 2) / range : 0.5;
    return {
      column: place % columns,
      row: Math.floor(place / columns),
      ids: some.map(({ id }) => id),
      mean,
      merit: smallerIsBetter ? 1 - share : share,
      across: rangeText(some.map(({ values }) => own(values, across.name))),
      up: rangeText(some.map(({ values }) => own(values, up.name))),
    };
  });
  return { columns, rows: lines, cells };
}

/** Each value is divided before it is added: the sum of large numbers could be infinite. */
function meanOf(rows: readonly Row[], metric: string): number {
  return rows.reduce((sum, { values }) => sum + Number(own(values, metric)) / rows.length, 0);
}

function rangeText(values: readonly Value[]): string {
  const numbers = values.filter((value): value is number => typeof value === "number");
  if (numbers.length < values.length) {
    return [...new Set(values.map((value) => valueText(value)))].join(", ");
  }
  const [least, most] = [
    numbers.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY),
    numbers.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY),
  ].map((value) => valueText(value));
  return least === most ? (least ?? "") : `${least} to ${most}`;
}

/** Formats a value with four digits: more than a plot can show. */
export function valueText(value: Value): string {
  if (typeof value === "number") return String(Number(value.toPrecision(4)));
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

/** The rectangle of a cell. */
export function boxOf({ column, row }: Cell, { columns, rows }: Heat, frame: Frame): Frame {
  const [width, height] = [frame.width / columns, frame.height / rows];
  return {
    left: frame.left + column * width,
    top: frame.top + (rows - 1 - row) * height,
    width,
    height,
  };
}

/** The cell at a point of the canvas. */
export function cellAt(heat: Heat, frame: Frame, x: number, y: number): Cell | null {
  const column = Math.floor(((x - frame.left) / frame.width) * heat.columns);
  const row = heat.rows - 1 - Math.floor(((y - frame.top) / frame.height) * heat.rows);
  return heat.cells.find((cell) => cell.column === column && cell.row === row) ?? null;
}

export type PlacedTick = { readonly at: number; readonly text: string };

/** The widths of a letter and of the gap between two texts, in pixels. */
const [letterWidth, textGap] = [7, 8];

/** Keeps every second number, or every fourth, where not all fit: a number is never cut, a category may be. */
function readable({ kind, ticks }: Axis, width: number): Axis["ticks"] {
  const longest = ticks.reduce((most, { text }) => Math.max(most, text.length), 0);
  const isWide = (step: number): boolean =>
    longest * letterWidth + textGap <= (width * step) / Math.max(1, ticks.length - 1);
  const step = kind === "category" || isWide(1) ? 1 : isWide(2) ? 2 : 4;
  return ticks.filter((_, at) => at % step === 0);
}

/** The ticks of the two axes, in pixels. */
export function ticksOf(
  across: Axis,
  up: Axis,
  frame: Frame,
): { readonly across: readonly PlacedTick[]; readonly up: readonly PlacedTick[] } {
  return {
    across: readable(across, frame.width).map(({ share, text }) => ({
      at: xOf(middled(across, share), frame),
      text,
    })),
    up: up.ticks.map(({ share, text }) => ({ at: yOf(middled(up, share), frame), text })),
  };
}
