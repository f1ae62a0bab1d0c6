/** Finds the line under the pointer, and its point at an x. */
import type { Line } from "./line.ts";
import { firstAtLeast, type Range, shareOf } from "./scale.ts";

/** The index of the bucket that is closest to x; -1 for a line without buckets. */
export function closestIndex(x: readonly number[], to: number): number {
  const after = firstAtLeast(x, to);
  const before = after - 1;
  const beyond = x[after];
  const nearer = x[before];
  if (beyond === undefined) return before;
  if (nearer === undefined) return after;
  return to - nearer <= beyond - to ? before : after;
}

/** A line with the values that are drawn: those reported, or their averages. */
export type Drawn = { readonly line: Line; readonly y: readonly number[] };

export type Pointer = {
  readonly x: number;
  /** The share of the y axis, 0 at its start. */
  readonly yShare: number;
  readonly yRange: Range;
  readonly log: boolean;
  /** The maximum distance of a selected line, as a share of the axis. */
  readonly reach: number;
};

/** The line whose drawn value at the pointer's x is closest to the pointer; null if none is within reach. */
export function nearestLine(drawn: readonly Drawn[], pointer: Pointer): Drawn | null {
  let best: Drawn | null = null;
  let least = pointer.reach;
  for (const one of drawn) {
    const share = shareOf(valueAt(one, pointer.x), pointer.yRange, pointer.log);
    const distance = Math.abs(share - pointer.yShare);
    if (distance < least) {
      best = one;
      least = distance;
    }
  }
  return best;
}

/** The value on the straight line between the buckets around x; NaN beyond the line's ends and in its gaps. */
function valueAt({ line: { x }, y }: Drawn, at: number): number {
  const after = firstAtLeast(x, at);
  const x1 = x[after];
  const y1 = y[after];
  if (x1 === undefined || y1 === undefined) return Number.NaN;
  const x0 = x[after - 1];
  const y0 = y[after - 1];
  if (x1 === at || x0 === undefined || y0 === undefined) return x1 === at ? y1 : Number.NaN;
  return y0 + ((y1 - y0) * (at - x0)) / (x1 - x0);
}
