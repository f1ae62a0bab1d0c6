/**
 * The points of a chart's lines at the pointer. The pointer's own x has no meaning between the steps of a training:
 * everything that is said about it is said about a point that exists.
 */
import type { Line } from "./line.ts";
import { closestIndex, type Drawn, nearestLine } from "./nearest.ts";
import { type Range, shareOf } from "./scale.ts";

export type PointOf = {
  readonly line: Line;
  /** The index of the bucket in the line's lists. */
  readonly index: number;
  /** The shares of the axes where the point is drawn; up is NaN for a value without a position. */
  readonly across: number;
  readonly up: number;
};

export type PointsAt = {
  /** The bucket that the pointer is closest to: its line, first and last x. */
  readonly snap: PointOf;
  /** One point for each line that has one here, the nearest to the pointer first. */
  readonly points: readonly PointOf[];
};

export type Axes = { readonly x: Range; readonly y: Range; readonly log: boolean };

/** The maximum distance of a line that counts as under the pointer, as a share of the height. */
export const reach = 0.12;

/** The share of the x axis within which points of several lines count as one place, such as those of several clocks. */
const besideShare = 0.01;

type At = { readonly xShare: number; readonly yShare: number };

/** Returns the line under the pointer; null if none is within reach, as a share of the height. */
export function lineUnder(
  drawn: readonly Drawn[],
  { xShare, yShare }: At,
  { x: [from, to], y: yRange, log }: Axes,
  reach: number,
): Drawn | null {
  return nearestLine(drawn, { x: from + xShare * (to - from), yShare, yRange, log, reach });
}

/**
 * Returns the points at the pointer: those of the step that is closest to it, on the line under the pointer if there is
 * one. A line whose buckets are others has the bucket with that step, or one right beside it. Null without points in
 * the range.
 */
export function pointsAt(
  drawn: readonly Drawn[],
  at: At,
  axes: Axes,
  reach: number,
): PointsAt | null {
  const [from, to] = axes.x;
  const x = from + at.xShare * (to - from);
  const under = lineUnder(drawn, at, axes, reach);
  const snap = closest(under === null ? drawn : [under], x, axes);
  if (snap === null) return null;
  const step = snap.line.x[snap.index] ?? Number.NaN;
  const beside = besideShare * (to - from);
  const points = drawn.flatMap((one) => {
    const index = one.line === snap.line ? snap.index : bucketAt(one.line, step, beside);
    return index === -1 ? [] : [pointOf(one, index, axes)];
  });
  return { snap, points: byDistance(points, at.yShare) };
}

/** The point with the closest x within the range. */
function closest(drawn: readonly Drawn[], x: number, axes: Axes): PointOf | null {
  const [least, greatest] = axes.x;
  let best: PointOf | null = null;
  let distance = Number.POSITIVE_INFINITY;
  for (const one of drawn) {
    const middle = closestIndex(one.line.x, x);
    // At the ends of the range the closest point may be beyond it.
    for (const index of [middle, middle - 1, middle + 1]) {
      const at = one.line.x[index] ?? Number.NaN;
      if (!(at >= least && at <= greatest && Math.abs(at - x) < distance)) continue;
      best = pointOf(one, index, axes);
      distance = Math.abs(at - x);
    }
  }
  return best;
}

/** The index of the bucket with a step, or of the closest within `beside` of it; else -1. */
function bucketAt({ x, from, to }: Line, step: number, beside: number): number {
  const index = closestIndex(x, step);
  const isIn = (at: number): boolean =>
    (from[at] ?? Number.NaN) <= step && step <= (to[at] ?? Number.NaN);
  const holder = [index, index - 1, index + 1].find(isIn);
  if (holder !== undefined) return holder;
  return Math.abs((x[index] ?? Number.NaN) - step) <= beside ? index : -1;
}

function pointOf({ line, y }: Drawn, index: number, axes: Axes): PointOf {
  const across = shareOf(line.x[index] ?? Number.NaN, axes.x, false);
  return { line, index, across, up: shareOf(y[index] ?? Number.NaN, axes.y, axes.log) };
}

/** Without a height of the pointer the points stay in the order of the lines. */
function byDistance(points: readonly PointOf[], yShare: number): readonly PointOf[] {
  if (Number.isNaN(yShare)) return points;
  const distance = ({ up }: PointOf): number =>
    Number.isNaN(up) ? Number.POSITIVE_INFINITY : Math.abs(up - yShare);
  return points.toSorted((a, b) => {
    const [one, other] = [distance(a), distance(b)];
    return one === other ? 0 : one - other;
  });
}
