/**
 * A Gaussian process (C. E. Rasmussen, C. K. I. Williams, "Gaussian Processes for Machine Learning", 2006, §2) that is
 * conditioned on values at points. More points can be appended; each costs a row of the factor (`matrix.ts`).
 */
import { NOISE_MIN } from "./fit.ts";
import {
  distancesTo,
  matern,
  maternSlopes,
  type Parameters,
  placeAt,
  type Points,
} from "./kernel.ts";
import { factorise, solveLower, solveUpper } from "./matrix.ts";

const VARIANCE_MIN = 1e-12;
/** The number of points that bound the deviations of many places. */
const FIRST = 64;

export type Moments = { readonly mean: number; readonly deviation: number };

export class Process {
  readonly #parameters: Parameters;
  readonly #points: Points;
  readonly #values: Float64Array;
  readonly #factor: Float64Array;
  /** The number of points that the process is conditioned on so far. */
  #size = 0;
  #alpha = new Float64Array(0);

  /** `points` are observed in this order; a value that is unknown at first is set before its point is observed. */
  constructor(parameters: Parameters, points: Points, values: Float64Array) {
    this.#parameters = parameters;
    this.#points = points;
    this.#values = Float64Array.from({ length: points.count }, (_, i) => values[i] ?? 0);
    this.#factor = new Float64Array(points.count * points.count);
  }

  /** Conditions the process on the points before index `to`. */
  see(to: number): void {
    const { count } = this.#points;
    const { scale, noise } = this.#parameters;
    for (let i = this.#size; i < to; i += 1) {
      this.#factor.set(this.#shared(placeAt(this.#points, i), i), i * count);
      this.#factor[i * count + i] = scale + noise;
    }
    factorise(this.#factor, count, this.#size, to, NOISE_MIN);
    this.#size = to;
    const alpha = this.#values.slice(0, to);
    solveLower(this.#factor, count, to, alpha);
    solveUpper(this.#factor, count, to, alpha);
    this.#alpha = alpha;
  }

  /** Conditions the process on the next point with its predicted mean as the value; returns that mean. */
  believe(): number {
    const next = this.#size;
    const mean = this.#meanOf(this.#shared(placeAt(this.#points, next)));
    this.#values[next] = mean;
    this.see(next + 1);
    return mean;
  }

  /** The smallest predicted mean at the observed points: at each point the mean is the value less noise × α. */
  leastMean(): number {
    const { noise } = this.#parameters;
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < this.#size; i += 1) {
      least = Math.min(least, (this.#values[i] as number) - noise * (this.#alpha[i] as number));
    }
    return least;
  }

  /** Returns the covariances between a place and the first `size` points. */
  #shared(place: Float64Array, size = this.#size): Float64Array {
    const { weights, scale } = this.#parameters;
    const shared = distancesTo(place, this.#points, size, weights);
    matern(shared, scale);
    return shared;
  }

  #meanOf(shared: Float64Array): number {
    let mean = 0;
    for (let j = 0; j < this.#size; j += 1)
      mean += (shared[j] as number) * (this.#alpha[j] as number);
    return mean;
  }

  /** Returns the mean and deviation that the process predicts at a place. */
  at(place: Float64Array): Moments {
    const column = this.#shared(place);
    const mean = this.#meanOf(column);
    solveLower(this.#factor, this.#points.count, this.#size, column);
    return { mean, deviation: this.#deviationOf(column) };
  }

  /** Returns the deviation from the solution of L x = the covariances with the first points. */
  #deviationOf(column: Float64Array): number {
    let variance = this.#parameters.scale;
    for (const x of column) variance -= x * x;
    return Math.sqrt(Math.max(VARIANCE_MIN, variance));
  }

  /** Like `at`, and writes the gradients of mean and deviation, which are 0 on categorical axes. */
  slopesAt(place: Float64Array, meanSlope: Float64Array, deviationSlope: Float64Array): Moments {
    const { axes, at, categorical, count } = this.#points;
    const { weights, scale } = this.#parameters;
    const size = this.#size;
    const column = distancesTo(place, this.#points, size, weights);
    const slopes = maternSlopes(column, scale);
    const mean = this.#meanOf(column);
    solveLower(this.#factor, count, size, column);
    const deviation = this.#deviationOf(column);
    solveUpper(this.#factor, count, size, column);
    for (let axis = 0; axis < axes; axis += 1) {
      const x = place[axis] as number;
      let byMean = 0;
      let byVariance = 0;
      for (let j = 0, from = axis * count; j < size; j += 1, from += 1) {
        const pull = (slopes[j] as number) * (x - (at[from] as number));
        byMean += pull * (this.#alpha[j] as number);
        byVariance += pull * (column[j] as number);
      }
      const weight = categorical[axis] === 1 ? 0 : (weights[axis] as number);
      meanSlope[axis] = 2 * weight * byMean;
      deviationSlope[axis] = (-2 * weight * byVariance) / deviation;
    }
    return { mean, deviation };
  }

  /**
   * Returns the means at many places, each with an upper bound of its deviation: the deviation given only the first
   * points, or given only the nearest point if that is smaller.
   */
  survey(places: Points): readonly Moments[] {
    const { scale, noise } = this.#parameters;
    const few = Math.min(FIRST, this.#size);
    return Array.from({ length: places.count }, (_, i) => {
      const shared = this.#shared(placeAt(places, i));
      const mean = this.#meanOf(shared);
      let nearest = 0;
      for (const one of shared) nearest = Math.max(nearest, one);
      const first = shared.subarray(0, few);
      solveLower(this.#factor, this.#points.count, few, first);
      const left = scale - (nearest * nearest) / (scale + noise);
      const deviation = Math.min(this.#deviationOf(first), Math.sqrt(Math.max(VARIANCE_MIN, left)));
      return { mean, deviation };
    });
  }
}
