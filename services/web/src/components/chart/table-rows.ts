/** The table of a chart: a row for each x, a column for each line. */
import type { Line } from "./line.ts";
import { firstAtLeast, type Range } from "./scale.ts";

export type ChartTable = {
  readonly columns: readonly Line[];
  /** Rows; cells[i] belongs to columns[i] and is undefined where the line has no bucket at x. */
  readonly rows: readonly { readonly x: number; readonly cells: readonly (number | undefined)[] }[];
  readonly columnsLeftOut: number;
  readonly rowsLeftOut: number;
};

/**
 * Builds the table of a range. With more rows than fit, it has evenly spaced rows, including the first and the last.
 */
export function tableOf(
  lines: readonly Line[],
  [from, to]: Range,
  limits: { readonly rows: number; readonly columns: number },
): ChartTable {
  const columns = lines.slice(0, limits.columns);
  const all = [...new Set(columns.flatMap(({ x }) => x))]
    .filter((x) => x >= from && x <= to)
    .toSorted((a, b) => a - b);
  const kept = evenly(all, limits.rows);
  return {
    columns,
    rows: kept.map((x) => ({
      x,
      cells: columns.map((line) => {
        const index = firstAtLeast(line.x, x);
        return line.x[index] === x ? line.y[index] : undefined;
      }),
    })),
    columnsLeftOut: lines.length - columns.length,
    rowsLeftOut: all.length - kept.length,
  };
}

function evenly(values: readonly number[], most: number): readonly number[] {
  if (values.length <= most) return values;
  const step = (values.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, index) => values[Math.round(index * step)] ?? 0);
}
