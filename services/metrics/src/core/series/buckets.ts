/**
 * Points by the pixel: at most so many buckets of equal width, each with all that a chart shows of its points. No point
 * is left out: a spike is the greatest value of its bucket. Where there are no more points than buckets, each point is
 * one.
 */
import type { Points } from "./points.ts";

export type BucketQuery = {
  /** Both included; null for the least and the greatest x of the points. */
  readonly from: number | null;
  readonly to: number | null;
  readonly buckets: number;
};

/** One entry of each list for each bucket that has points, in the order of x. Values are NaN where none is finite. */
export type Buckets = {
  readonly xMin: number[];
  readonly xMax: number[];
  /** The points, non-finite ones included. */
  readonly count: number[];
  /** Of the finite values. */
  readonly min: number[];
  readonly max: number[];
  readonly mean: number[];
  /** The standard deviation (of a population). */
  readonly deviation: number[];
  /** By the order of the points, as they are. */
  readonly first: number[];
  readonly last: number[];
  readonly nans: number[];
  readonly infinities: number[];
};

export function bucketsOf({ xs, values }: Points, query: BucketQuery): Buckets {
  const [from, to] = rangeOf(xs, query);
  let inside = 0;
  for (let i = 0; i < xs.length; i += 1) {
    const x = xs[i] ?? Number.NaN;
    if (x >= from && x <= to) inside += 1;
  }
  const tally = new Tally(Math.min(query.buckets, inside));
  if (inside <= query.buckets) {
    const x = (index: number): number => xs[index] ?? Number.NaN;
    const ordered = Array.from(xs.keys()).filter((i) => x(i) >= from && x(i) <= to);
    ordered.sort((a, b) => x(a) - x(b) || a - b);
    for (const [bucket, i] of ordered.entries()) tally.add(bucket, { xs, values }, i, i + 1);
  } else {
    const scale = to > from ? query.buckets / (to - from) : 0;
    const last = query.buckets - 1;
    const bucketAt = (i: number): number => {
      const x = xs[i] ?? Number.NaN;
      return x >= from && x <= to ? Math.min(Math.floor((x - from) * scale), last) : outside;
    };
    for (let start = 0, end = 0; start < xs.length; start = end) {
      const bucket = bucketAt(start);
      for (end = start + 1; end < xs.length && bucketAt(end) === bucket; end += 1);
      if (bucket !== outside) tally.add(bucket, { xs, values }, start, end);
    }
  }
  return tally.buckets();
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
  /** The sum of the squared distances from the mean (Welford, Technometrics 1962). */
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

  /** Points that follow each other: the bucket's numbers are read and written once for all of them. */
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
