/**
 * Summarises points for a chart: at most a given number of buckets of equal width, each with the statistics of its
 * points. No point is lost: a spike is the maximum of its bucket. With no more points than buckets, each point is a
 * bucket.
 */
import type { Points } from "./points.ts";

export type Bounds = { readonly from: number; readonly to: number };

export type BucketQuery = {
  /** The bounds of x, both included; null for the smallest and the largest x of the points. */
  readonly from: number | null;
  readonly to: number | null;
  readonly buckets: number;
};

/**
 * Lists with one entry for each bucket that has points, in the order of x. Values are NaN in a bucket without finite
 * values.
 */
export type Buckets = {
  readonly xMin: number[];
  readonly xMax: number[];
  /** The number of points, non-finite ones included. */
  readonly count: number[];
  /** The statistics use only finite values. */
  readonly min: number[];
  readonly max: number[];
  readonly mean: number[];
  /** The population standard deviation. */
  readonly deviation: number[];
  /** The first and last values in the order of the points, also non-finite ones. */
  readonly first: number[];
  readonly last: number[];
  readonly nans: number[];
  readonly infinities: number[];
};

export function bucketsOf(points: Points, query: BucketQuery): Buckets {
  const { xs } = points;
  if (isRising(xs)) return bucketsOfRising(points, query);
  const [from, to] = rangeOf(xs, query);
  let inside = 0;
  for (let i = 0; i < xs.length; i += 1) {
    const x = xs[i] ?? none;
    if (x >= from && x <= to) inside += 1;
  }
  const tally = new Tally(Math.min(query.buckets, inside));
  if (inside <= query.buckets) {
    const x = (index: number): number => xs[index] ?? none;
    const ordered = Array.from(xs.keys()).filter((i) => x(i) >= from && x(i) <= to);
    ordered.sort((a, b) => x(a) - x(b) || a - b);
    for (const [bucket, i] of ordered.entries()) tally.add(bucket, points, i, i + 1);
  } else addStretches(tally, points, bucketing(from, to, query.buckets));
  return tally.buckets();
}

/** Computes the buckets of points that come in stretches, without joining them. */
export function bucketsOfStretches(stretches: readonly Points[], query: BucketQuery): Buckets {
  const [only] = stretches;
  if (only !== undefined && stretches.length === 1) return bucketsOf(only, query);
  let [from, to] = [up, down];
  for (const { xs } of stretches) {
    const [least, greatest] = rangeOf(xs, query);
    if (least < from) from = least;
    if (greatest > to) to = greatest;
  }
  const joined = new JoinedBuckets({ from, to, buckets: query.buckets });
  for (const stretch of stretches) joined.add(stretch);
  return joined.buckets();
}

/** Computes buckets of ascending x, where each bucket is a range of points: a binary search finds its end. */
function bucketsOfRising(points: Points, query: BucketQuery): Buckets {
  const { xs } = points;
  const from = query.from ?? xs[0] ?? up;
  const to = query.to ?? xs[xs.length - 1] ?? down;
  const start = firstIndex(xs, 0, xs.length, (x) => x >= from);
  const end = firstIndex(xs, start, xs.length, (x) => x > to);
  const tally = new Tally(Math.min(query.buckets, end - start));
  if (end - start <= query.buckets) {
    for (let i = start; i < end; i += 1) tally.add(i - start, points, i, i + 1);
  } else addRising(tally, points, [start, end], bucketing(from, to, query.buckets));
  return tally.buckets();
}

/**
 * The buckets of several lists of points at common bounds. The lists are added one after the other, and none is kept:
 * the result is, to the bit, that of all points at once.
 */
export class JoinedBuckets {
  readonly #query: BucketQuery & Bounds;
  readonly #tally: Tally;
  /** The points within the bounds, while they are no more than buckets; then null. */
  #few: { readonly xs: number[]; readonly values: number[] } | null = { xs: [], values: [] };

  constructor(query: BucketQuery & Bounds) {
    this.#query = query;
    this.#tally = new Tally(query.buckets);
  }

  add(points: Points): void {
    const { xs, values } = points;
    const { from, to, buckets } = this.#query;
    const bucketAt = bucketing(from, to, buckets);
    if (isRising(xs)) {
      const start = firstIndex(xs, 0, xs.length, (x) => x >= from);
      const end = firstIndex(xs, start, xs.length, (x) => x > to);
      addRising(this.#tally, points, [start, end], bucketAt);
    } else addStretches(this.#tally, points, bucketAt);
    for (let i = 0; i < xs.length && this.#few !== null; i += 1) {
      const x = xs[i] ?? none;
      if (!(x >= from && x <= to)) continue;
      this.#few.xs.push(x);
      this.#few.values.push(values[i] ?? none);
      if (this.#few.xs.length > buckets) this.#few = null;
    }
  }

  buckets(): Buckets {
    if (this.#few === null) return this.#tally.buckets();
    const [xs, values] = [Float64Array.from(this.#few.xs), Float64Array.from(this.#few.values)];
    return bucketsOf({ xs, values }, this.#query);
  }
}

type BucketAt = (x: number) => number;

/** Adds the points of a range of ascending x. */
function addRising(
  tally: Tally,
  points: Points,
  [start, end]: readonly [number, number],
  bucketAt: BucketAt,
): void {
  const { xs } = points;
  for (let first = start, next = start; first < end; first = next) {
    const bucket = bucketAt(xs[first] ?? none);
    next = firstIndex(xs, first + 1, end, (x) => bucketAt(x) > bucket);
    tally.add(bucket, points, first, next);
  }
}

/** Adds the points within the bounds in stretches of one bucket; x may be in any order. */
function addStretches(tally: Tally, points: Points, bucketAt: BucketAt): void {
  const { xs } = points;
  for (let start = 0, end = 0; start < xs.length; start = end) {
    const bucket = bucketAt(xs[start] ?? none);
    for (end = start + 1; end < xs.length && bucketAt(xs[end] ?? none) === bucket; end += 1);
    if (bucket !== outside) tally.add(bucket, points, start, end);
  }
}

/** Returns a function from x to its bucket. */
function bucketing(from: number, to: number, buckets: number): BucketAt {
  const scale = to > from ? buckets / (to - from) : 0;
  return (x) =>
    x >= from && x <= to ? Math.min(Math.floor((x - from) * scale), buckets - 1) : outside;
}

/** Returns false for descending or non-finite x. */
function isRising(xs: Float64Array): boolean {
  if (!Number.isFinite(xs[0] ?? 0) || !Number.isFinite(xs[xs.length - 1] ?? 0)) return false;
  for (let i = 1; i < xs.length; i += 1)
    if (!((xs[i] ?? none) >= (xs[i - 1] ?? none))) return false;
  return true;
}

/** The first index from `start` at which `holds` is true, by binary search; `end` if there is none. */
function firstIndex(
  xs: Float64Array,
  start: number,
  end: number,
  holds: (x: number) => boolean,
): number {
  let [low, high] = [start, end];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(xs[middle] ?? none)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function rangeOf(xs: Float64Array, { from, to }: BucketQuery): readonly [number, number] {
  let [least, greatest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  if (from === null || to === null) {
    for (let i = 0; i < xs.length; i += 1) {
      const x = xs[i] ?? Number.NaN;
      if (!Number.isFinite(x)) continue;
      if (x < least) least = x;
      if (x > greatest) greatest = x;
    }
  }
  return [from ?? least, to ?? greatest];
}

const outside = -1;
const { NaN: none, POSITIVE_INFINITY: up, NEGATIVE_INFINITY: down } = Number;

class Tally {
  readonly #size: number;
  readonly #xMin: Float64Array;
  readonly #xMax: Float64Array;
  readonly #count: Float64Array;
  readonly #min: Float64Array;
  readonly #max: Float64Array;
  readonly #mean: Float64Array;
  /** The sum of squared distances from the mean (Welford, Technometrics 1962). */
  readonly #squares: Float64Array;
  readonly #first: Float64Array;
  readonly #last: Float64Array;
  readonly #nans: Float64Array;
  readonly #infinities: Float64Array;

  constructor(size: number) {
    this.#size = size;
    const list = (value: number): Float64Array => new Float64Array(size).fill(value);
    [this.#xMin, this.#xMax, this.#min, this.#max] = [list(up), list(down), list(up), list(down)];
    [this.#count, this.#mean, this.#squares] = [list(0), list(0), list(0)];
    [this.#nans, this.#infinities] = [list(0), list(0)];
    [this.#first, this.#last] = [list(none), list(none)];
  }

  /** Adds consecutive points; the bucket's statistics are read and written once for all of them. */
  add(bucket: number, { xs, values }: Points, start: number, end: number): void {
    let [xMin, xMax] = [this.#xMin[bucket] ?? up, this.#xMax[bucket] ?? down];
    let [min, max] = [this.#min[bucket] ?? up, this.#max[bucket] ?? down];
    let [mean, squares] = [this.#mean[bucket] ?? 0, this.#squares[bucket] ?? 0];
    let [nans, infinities] = [this.#nans[bucket] ?? 0, this.#infinities[bucket] ?? 0];
    const before = this.#count[bucket] ?? 0;
    let finite = before - nans - infinities;
    for (let i = start; i < end; i += 1) {
      const x = xs[i] ?? none;
      if (x < xMin) xMin = x;
      if (x > xMax) xMax = x;
      const value = values[i] ?? none;
      if (Number.isNaN(value)) nans += 1;
      else if (!Number.isFinite(value)) infinities += 1;
      else {
        if (value < min) min = value;
        if (value > max) max = value;
        finite += 1;
        const distance = value - mean;
        mean += distance / finite;
        squares += distance * (value - mean);
      }
    }
    if (before === 0) this.#first[bucket] = values[start] ?? none;
    this.#last[bucket] = values[end - 1] ?? none;
    this.#count[bucket] = before + end - start;
    [this.#xMin[bucket], this.#xMax[bucket]] = [xMin, xMax];
    [this.#min[bucket], this.#max[bucket]] = [min, max];
    [this.#mean[bucket], this.#squares[bucket]] = [mean, squares];
    [this.#nans[bucket], this.#infinities[bucket]] = [nans, infinities];
  }

  buckets(): Buckets {
    const used = Array.from({ length: this.#size }, (_, bucket) => bucket).filter(
      (bucket) => (this.#count[bucket] ?? 0) > 0,
    );
    const all = (list: Float64Array): number[] => used.map((bucket) => list[bucket] ?? none);
    const finiteOf = (bucket: number): number =>
      (this.#count[bucket] ?? 0) - (this.#nans[bucket] ?? 0) - (this.#infinities[bucket] ?? 0);
    const finite = (value: (bucket: number) => number | undefined): number[] =>
      used.map((bucket) => (finiteOf(bucket) === 0 ? none : (value(bucket) ?? none)));
    return {
      xMin: all(this.#xMin),
      xMax: all(this.#xMax),
      count: all(this.#count),
      min: finite((bucket) => this.#min[bucket]),
      max: finite((bucket) => this.#max[bucket]),
      mean: finite((bucket) => this.#mean[bucket]),
      deviation: finite((bucket) => Math.sqrt((this.#squares[bucket] ?? 0) / finiteOf(bucket))),
      first: all(this.#first),
      last: all(this.#last),
      nans: all(this.#nans),
      infinities: all(this.#infinities),
    };
  }
}
