/**
 * The lines of a chart, from the answer of QueryMetrics. All lists of a line have one entry per bucket, in the order of
 * x. A bucket is drawn at the middle of its points, as their mean, with a band from minimum to maximum. A line is of a
 * trial or of a group of trials, each named by a text, because a comparison has trials 3 of several experiments.
 */
import type { ReplyOf } from "@trainyard/contracts";
import { count } from "../format.ts";
import type { ShownState } from "../state.ts";

export type Series = ReplyOf<"queryMetrics">["series"][number];

/** The kind of a bucket's points that have no position on the y axis. */
export type MarkKind = "nan" | "inf" | "-inf" | "±inf";
export type Mark = { readonly x: number; readonly kind: MarkKind; readonly count: number };

/** A trial of a chart. */
export type ChartTrial = {
  /** The trial's id, such as 12.3. */
  readonly id: string;
  /** The name for people, such as "trial 3". */
  readonly label: string;
  /** A number from 1 that determines hue and dash. */
  readonly look: number;
  readonly state?: ShownState;
};

/** Trials that are drawn as one line: the mean of all their points, with a band from minimum to maximum. */
export type ChartGroup = {
  readonly name: string;
  readonly look: number;
  readonly trials: readonly string[];
};

export type Line = {
  /** An id that is unique in the chart. */
  readonly id: string;
  /** The id of the line's trial, or the name of its group of trials: lines of one trial are highlighted together. */
  readonly of: string;
  readonly label: string;
  /** A number from 1 that determines hue and dash. */
  readonly look: number;
  readonly state?: ShownState | undefined;
  /** The group of the metric: `validation` is drawn with dots, other groups as thin lines. */
  readonly group: string;
  readonly x: readonly number[];
  /** The first and the last x of each bucket's points. */
  readonly from: readonly number[];
  readonly to: readonly number[];
  /** Values; NaN for a bucket without finite points. */
  readonly y: readonly number[];
  readonly low: readonly number[];
  readonly high: readonly number[];
  /** The number of points of each bucket. */
  readonly count: readonly number[];
  /** The number of points that the line shows, at least the number of buckets. */
  readonly points: number;
  readonly marks: readonly Mark[];
};

/** Returns the number of a trial in its experiment: 3 for trial 12.3. */
export function trialNumberOf(trial: string): number {
  return Number(trial.slice(trial.indexOf(".") + 1));
}

/** A trial in the charts of its own experiment: its number determines the look. */
export function chartTrialOf(id: string, state?: ShownState): ChartTrial {
  const look = trialNumberOf(id);
  const trial = { id, label: `trial ${look}`, look };
  return state === undefined ? trial : { ...trial, state };
}

/** Returns the line of a series of a trial, or of a group of trials. */
export function lineOf(series: Series, { id: of, label, look, state }: ChartTrial): Line {
  const { group, name, xMin, xMax, count, min, max, mean } = series;
  return {
    ...{ id: `${of} ${group} ${name}`, of, label, look, state, group },
    x: xMin.map((from, index) => (from + (xMax[index] ?? from)) / 2),
    from: xMin,
    to: xMax,
    y: mean.map((value, index) =>
      Number.isFinite(value) ? value : middle(min[index], max[index]),
    ),
    low: min,
    high: max,
    count,
    points: count.reduce((sum, points) => sum + points, 0),
    marks: marksOf(series),
  };
}

/** Returns a position between the bounds for a mean that overflowed. */
function middle(min = Number.NaN, max = Number.NaN): number {
  return Number.isFinite(min) && Number.isFinite(max) ? min / 2 + max / 2 : Number.NaN;
}

/** The sign of an infinity is known only for the first and the last point of a bucket. */
function marksOf(series: Series): readonly Mark[] {
  const { xMin, xMax, nans, infinities, first, last } = series;
  return xMin.flatMap((from, index): readonly Mark[] => {
    const x = (from + (xMax[index] ?? from)) / 2;
    const marks: Mark[] = [];
    const missing = nans[index] ?? 0;
    if (missing > 0) marks.push({ x, kind: "nan", count: missing });
    const infinite = infinities[index] ?? 0;
    if (infinite > 0) {
      const ends = [first[index], last[index]].filter(
        (value) => value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY,
      );
      const known = infinite <= ends.length && new Set(ends).size === 1;
      const kind = !known ? "±inf" : ends[0] === Number.POSITIVE_INFINITY ? "inf" : "-inf";
      marks.push({ x, kind, count: infinite });
    }
    return marks;
  });
}

/** Returns a text such as "showing 1,500 of 100,000 points; minima and maxima kept". */
export function captionOf(lines: readonly Line[]): string {
  const shown = lines.reduce((sum, { x }) => sum + x.length, 0);
  const all = lines.reduce((sum, { points }) => sum + points, 0);
  if (shown === 0) return "no points";
  if (all <= shown) return `showing all ${count(all)} ${all === 1 ? "point" : "points"}`;
  return `showing ${count(shown)} of ${count(all)} points; minima and maxima kept`;
}
