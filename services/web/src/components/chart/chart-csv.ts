import { csvOf } from "../csv.ts";
import { firstAtLeast, type Range } from "./scale.ts";
import type { Line } from "./line.ts";

/** Writes what a chart draws as CSV (RFC 4180): a row for each bucket of each line in the range. */
export function chartCsv(lines: readonly Line[], xName: string, [from, to]: Range): string {
  const rows = lines.flatMap((line): readonly (readonly string[])[] => {
    const { x, y, low, high, count } = line;
    const first = firstAtLeast(x, from);
    const shown = x.slice(first).filter((at) => at <= to);
    return shown.map((at, place) => {
      const index = first + place;
      return [line.of, at, y[index], low[index], high[index], count[index]].map((value) =>
        typeof value === "number" && Number.isNaN(value) ? "" : String(value ?? ""),
      );
    });
  });
  const head = ["trial", xName, "mean", "min", "max", "count"];
  return csvOf([head, ...rows]);
}
