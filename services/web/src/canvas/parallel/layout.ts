/**
 * The layout of parallel coordinates: an axis for each hyperparameter that differs and for the metric, a line for each
 * trial. Positions are shares of an axis, with 0 at its bottom, so that brushes survive resizing. Pure.
 */
import { linearTicks, logTicks } from "../../components/chart/round-ticks.ts";
import { own } from "../../data/own.ts";

export type Value = string | number | boolean | null | readonly unknown[] | undefined;
export type Row = {
  readonly id: string;
  readonly values: Readonly<Record<string, Value>>;
};

export type Axis = {
  readonly name: string;
  readonly kind: "linear" | "log" | "category";
  /** The labels beside the axis, each at its share of the height from the bottom. */
  readonly ticks: readonly { readonly share: number; readonly text: string }[];
  /** Returns NaN for a value without a position. */
  readonly shareOf: (value: Value) => number;
};

/** The ends of a brush, as shares of an axis. */
export type Brush = readonly [number, number];
export type Brushes = ReadonlyMap<string, Brush>;

/** Positive numbers that span at least this factor have a logarithmic axis. */
const logFactor = 100;
const categoriesMax = 24;
const ticksMax = 6;

/**
 * Returns the axis of a name; null if all rows have one value, or too many words. The numbers of a categorical
 * hyperparameter are categories, because values between them do not exist.
 */
export function axisOf(name: string, rows: readonly Row[], categorical = false): Axis | null {
  const values = rows.map((row) => own(row.values, name)).filter((value) => value !== undefined);
  const different = [...new Set(values.map(textOf))];
  if (different.length < 2) return null;
  const numbers = values.filter((value): value is number => typeof value === "number");
  const finite = numbers.filter(Number.isFinite);
  const isCategories = categorical && different.length <= categoriesMax;
  if (numbers.length === values.length && finite.length > 1 && !isCategories) {
    return numberAxis(name, finite);
  }
  return different.length > categoriesMax ? null : categoryAxis(name, different);
}

function numberAxis(name: string, values: readonly number[]): Axis {
  const least = values.reduce((a, b) => Math.min(a, b));
  const greatest = values.reduce((a, b) => Math.max(a, b));
  const log = least > 0 && greatest / least >= logFactor;
  const place = (value: number): number => (log ? Math.log(value) : value);
  // Halving keeps the difference of the largest numbers finite.
  const from = place(least) / 2;
  const span = place(greatest) / 2 - from;
  const isWhole = values.every(Number.isSafeInteger);
  const shareOf = (value: Value): number =>
    typeof value === "number" && Number.isFinite(value) && (!log || value > 0)
      ? (place(value) / 2 - from) / span
      : Number.NaN;
  const round = log
    ? logTicks(least, greatest, ticksMax)
    : linearTicks(least, greatest, ticksMax).filter((tick) => !isWhole || Number.isInteger(tick));
  const ticks = round.map((value) => ({ share: shareOf(value), text: tickText(value) }));
  return { name, kind: log ? "log" : "linear", ticks, shareOf };
}

/** Formats 0.0001 as 1e-4, and 250000 as it is. */
function tickText(value: number): string {
  const size = Math.abs(value);
  const text = String(value);
  if (size === 0 || (size >= 1e-3 && size < 1e7)) return text;
  return value.toExponential().replace("e+", "e");
}

function categoryAxis(name: string, texts: readonly string[]): Axis {
  const sorted = texts.toSorted((a, b) => Number(a) - Number(b) || (a < b ? -1 : 1));
  const shares = new Map(sorted.map((text, index) => [text, index / (sorted.length - 1)]));
  return {
    name,
    kind: "category",
    ticks: sorted.map((text) => ({ share: shares.get(text) ?? 0, text })),
    shareOf: (value) =>
      value === undefined ? Number.NaN : (shares.get(textOf(value)) ?? Number.NaN),
  };
}

const textOf = (value: Value): string =>
  typeof value === "string" ? value : JSON.stringify(value ?? null);

export type PlacedRow = {
  readonly id: string;
  /** Shares in the order of the axes; NaN where the row has no position. */
  readonly shares: readonly number[];
};

export function placed(rows: readonly Row[], axes: readonly Axis[]): readonly PlacedRow[] {
  return rows.map(({ id, values }) => ({
    id,
    shares: axes.map(({ name, shareOf }) => shareOf(own(values, name))),
  }));
}

/** Returns the ids of the rows within every brush. */
export function brushed(
  rows: readonly PlacedRow[],
  axes: readonly Axis[],
  brushes: Brushes,
): readonly PlacedRow[] {
  const limits = axes.flatMap(({ name }, index) => {
    const brush = brushes.get(name);
    return brush === undefined ? [] : [{ index, brush }];
  });
  return rows.filter(({ shares }) =>
    limits.every(({ index, brush: [from, to] }) => {
      const share = shares[index] ?? Number.NaN;
      return share >= from && share <= to;
    }),
  );
}

/** The x of an axis in a plot of this width. */
export function xOfAxis(index: number, count: number, width: number, margin: number): number {
  return count < 2 ? width / 2 : margin + ((width - 2 * margin) * index) / (count - 1);
}

/** The axis at an x, within half the distance to the next axis. */
export function axisAt(x: number, count: number, width: number, margin: number): number {
  if (count < 2) return 0;
  const share = (x - margin) / (width - 2 * margin);
  return Math.min(count - 1, Math.max(0, Math.round(share * (count - 1))));
}

/** Returns the names with one moved by one place. */
export function moved(names: readonly string[], name: string, by: -1 | 1): readonly string[] {
  const from = names.indexOf(name);
  const other = names[from + by];
  if (from === -1 || other === undefined) return names;
  return names.with(from, other).with(from + by, name);
}
