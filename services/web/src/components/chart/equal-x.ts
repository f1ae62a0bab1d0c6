/**
 * The buckets of a group of trials at equal x as one bucket. While a group has fewer points than buckets, the answer
 * has a bucket for each point, and trials that report at the same steps would be a vertical line at each.
 */
import type { Series } from "./line.ts";

export function joinedAtEqualX(series: Series): Series {
  const { xMin, xMax } = series;
  const starts = xMin.flatMap((x, at) =>
    at > 0 && x === xMin[at - 1] && xMax[at] === x && xMax[at - 1] === x ? [] : [at],
  );
  if (starts.length === xMin.length) return series;
  const runs = starts.map((start, at) => [start, starts[at + 1] ?? xMin.length] as const);
  const each = <Of>(list: readonly Of[], join: (run: readonly Of[], start: number) => Of) =>
    runs.map(([start, end]) => join(list.slice(start, end), start));
  const first = (run: readonly number[]): number => run[0] ?? Number.NaN;
  const last = (run: readonly number[]): number => run.at(-1) ?? Number.NaN;
  const sum = (run: readonly number[]): number => run.reduce((total, one) => total + one, 0);
  const finiteIn = (at: number): number =>
    (series.count[at] ?? 0) - (series.nans[at] ?? 0) - (series.infinities[at] ?? 0);
  const mean = each(series.mean, (run, start) => weighted(run, start, finiteIn));
  const squares = each(series.deviation, (run, start) =>
    weighted(
      run.map((deviation, at) => deviation ** 2 + (series.mean[start + at] ?? 0) ** 2),
      start,
      finiteIn,
    ),
  );
  return {
    ...series,
    xMin: each(xMin, first),
    xMax: each(xMax, last),
    count: each(series.count, sum),
    min: each(series.min, (run) => finiteOr(Math.min(...known(run)))),
    max: each(series.max, (run) => finiteOr(Math.max(...known(run)))),
    mean,
    deviation: squares.map((square, at) => Math.sqrt(Math.max(0, square - (mean[at] ?? 0) ** 2))),
    first: each(series.first, first),
    last: each(series.last, last),
    nans: each(series.nans, sum),
    infinities: each(series.infinities, sum),
  };
}

/** The mean of means by their numbers of finite points; NaN without any. */
function weighted(run: readonly number[], start: number, finiteIn: (at: number) => number): number {
  let [total, points] = [0, 0];
  for (const [at, value] of run.entries()) {
    const weight = finiteIn(start + at);
    if (weight === 0) continue;
    total += weight * value;
    points += weight;
  }
  return points === 0 ? Number.NaN : total / points;
}

/** The least of no values is infinite. */
const finiteOr = (value: number): number => (Number.isFinite(value) ? value : Number.NaN);

const known = (run: readonly number[]): readonly number[] =>
  run.filter((value) => !Number.isNaN(value));
