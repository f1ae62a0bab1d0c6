/** Computes the positions of the parts of a drawn value, in pixels. */
import type { Shape } from "./shape.ts";

export type Bar = {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** The text of the tooltip. */
  readonly title: string;
};

export type BarsLayout = {
  readonly bars: readonly Bar[];
  /** The height of zero, from the top. */
  readonly baseline: number;
  readonly ticks: readonly { readonly x: number; readonly text: string }[];
};

type Size = { readonly width: number; readonly height: number };

const short = (value: number): string => String(Number(value.toPrecision(4)));

/** The bars of a histogram are as wide as their bins. */
export function histogramLayout(
  { counts, edges }: Extract<Shape, { kind: "histogram" }>,
  size: Size,
): BarsLayout {
  const from = edges[0] ?? 0;
  const span = (edges.at(-1) ?? 1) - from || 1;
  const xOf = (edge: number) => ((edge - from) / span) * size.width;
  const { heightOf, baseline } = scaleOf(counts, size.height);
  const bars = counts.map((count, index) => {
    const [left, right] = [edges[index] ?? 0, edges[index + 1] ?? 0];
    const title = `${short(left)} to ${short(right)}: ${short(count)}`;
    return barOf(xOf(left), xOf(right) - xOf(left), heightOf(count), baseline, title);
  });
  const ends = [from, from + span / 2, from + span];
  return { bars, baseline, ticks: ends.map((edge) => ({ x: xOf(edge), text: short(edge) })) };
}

/** The bars of a list have equal widths and the order of the list. A value that is not finite has no bar. */
export function listLayout({ values }: Extract<Shape, { kind: "list" }>, size: Size): BarsLayout {
  const step = size.width / Math.max(1, values.length);
  const { heightOf, baseline } = scaleOf(values, size.height);
  const bars = values.map((value, index) =>
    barOf(index * step, step, heightOf(value), baseline, `${index}: ${short(value)}`),
  );
  const ends = values.length > 1 ? [0, values.length - 1] : [0];
  const ticks = ends.map((index) => ({ x: (index + 0.5) * step, text: String(index) }));
  return { bars, baseline, ticks };
}

function scaleOf(values: readonly number[], height: number) {
  const finite = values.filter(Number.isFinite);
  const top = finite.reduce((most, value) => Math.max(most, value), 0);
  const bottom = finite.reduce((least, value) => Math.min(least, value), 0);
  const scale = height / (top - bottom || 1);
  const heightOf = (value: number) => (Number.isFinite(value) ? value * scale : 0);
  return { heightOf, baseline: top * scale };
}

function barOf(x: number, width: number, height: number, baseline: number, title: string): Bar {
  const gap = width > 4 ? 1 : 0;
  const top = height >= 0 ? baseline - height : baseline;
  return { x, y: top, width: Math.max(0.5, width - gap), height: Math.abs(height), title };
}

export type MatrixCell = {
  readonly row: number;
  readonly column: number;
  readonly value: number;
  /**
   * The cell's share of the row's sum, from 0 to 1; in a matrix with negative values, its share of the range from
   * minimum to maximum.
   */
  readonly share: number;
};

/** The most rows and columns that are drawn. */
export const matrixShownMax = 40;

export function matrixCells(
  rows: readonly (readonly number[])[],
): readonly (readonly MatrixCell[])[] {
  const all = rows.flat().filter(Number.isFinite);
  const least = all.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const most = all.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  return rows.slice(0, matrixShownMax).map((values, row) => {
    const sum = values.filter(Number.isFinite).reduce((total, value) => total + value, 0);
    return values.slice(0, matrixShownMax).map((value, column) => {
      const share = least < 0 ? (value - least) / (most - least || 1) : value / (sum || 1);
      return { row, column, value, share: Number.isFinite(share) ? share : 0 };
    });
  });
}
