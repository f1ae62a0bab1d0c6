/**
 * A Gaussian process (C. E. Rasmussen, C. K. I. Williams, "Gaussian Processes for Machine Learning", 2006, §2) that is
 * conditioned on values at points. More points can be appended; each costs a row of the factor (`matrix.ts`).
 */
import { NOISE_MIN } from "./fit.ts";
import { distanceOf, matern, maternSlope, type Parameters, type Points } from "./kernel.ts";
import { factorise, solveLower, solveLowerFour, solveUpper } from "./matrix.ts";

const VARIANCE_MIN = 1e-12;

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
    const { axes, at, count } = this.#points;
    const { scale, noise } = this.#parameters;
    for (let i = this.#size; i < to; i += 1) {
      for (let j = 0; j < i; j += 1) {
        const distance = distanceOf(this.#parameters, this.#points, at, i * axes, at, j * axes);
        this.#factor[i * count + j] = matern(distance, scale);
      }
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
    const { axes, at } = this.#points;
    const next = this.#size;
    const mean = this.#meanOf(this.#shared(at, next * axes));
    this.#values[next] = mean;
    this.see(next + 1);
    return mean;
  }

  /** The smallest predicted mean at the observed points. */
  leastMean(): number {
    const { axes, at } = this.#points;
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < this.#size; i += 1) {
      least = Math.min(least, this.#meanOf(this.#shared(at, i * axes)));
    }
    return least;
  }

  /** Returns the covariances between the point at index `i` of `at` and each observed point. */
  #shared(at: Float64Array, i: number): Float64Array {
    const { axes } = this.#points;
    const shared = new Float64Array(this.#size);
    for (let j = 0; j < this.#size; j += 1) {
      const distance = distanceOf(this.#parameters, this.#points, at, i, this.#points.at, j * axes);
      shared[j] = matern(distance, this.#parameters.scale);
    }
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
    const column = this.#shared(place, 0);
    const mean = this.#meanOf(column);
    solveLower(this.#factor, this.#points.count, this.#size, column);
    return { mean, deviation: this.#deviationOf(column) };
  }

  #deviationOf(column: Float64Array): number {
    let variance = this.#parameters.scale;
    for (let j = 0; j < this.#size; j += 1) {
      variance -= (column[j] as number) * (column[j] as number);
    }
    return Math.sqrt(Math.max(VARIANCE_MIN, variance));
  }

  /** Like `at`, and writes the gradients of mean and deviation, which are 0 on categorical axes. */
  slopesAt(place: Float64Array, meanSlope: Float64Array, deviationSlope: Float64Array): Moments {
    const { axes, at, categorical, count } = this.#points;
    const { weights, scale } = this.#parameters;
    const size = this.#size;
    const column = new Float64Array(size);
    const slopes = new Float64Array(size);
    for (let j = 0; j < size; j += 1) {
      const distance = distanceOf(this.#parameters, this.#points, place, 0, at, j * axes);
      column[j] = matern(distance, scale);
      slopes[j] = maternSlope(distance, scale);
    }
    const mean = this.#meanOf(column);
    solveLower(this.#factor, count, size, column);
    const deviation = this.#deviationOf(column);
    solveUpper(this.#factor, count, size, column);
    meanSlope.fill(0);
    deviationSlope.fill(0);
    for (let j = 0; j < size; j += 1) {
      const byMean = 2 * (slopes[j] as number) * (this.#alpha[j] as number);
      const byVariance = -4 * (slopes[j] as number) * (column[j] as number);
      for (let axis = 0; axis < axes; axis += 1) {
        if (categorical[axis] === 1) continue;
        const apart = (place[axis] as number) - (at[j * axes + axis] as number);
        const pull = (weights[axis] as number) * apart;
        meanSlope[axis] = (meanSlope[axis] as number) + byMean * pull;
        deviationSlope[axis] = (deviationSlope[axis] as number) + byVariance * pull;
      }
    }
    for (let axis = 0; axis < axes; axis += 1) {
      deviationSlope[axis] = (deviationSlope[axis] as number) / (2 * deviation);
    }
    return { mean, deviation };
  }

  /**
   * Returns the means at many places, each with an upper bound of its deviation: the deviation given only the nearest
   * point.
   */
  survey(places: Points): { readonly means: Float64Array; readonly deviationsMost: Float64Array } {
    const { axes, at } = this.#points;
    const { scale, noise } = this.#parameters;
    const means = new Float64Array(places.count);
    const deviationsMost = new Float64Array(places.count);
    for (let i = 0; i < places.count; i += 1) {
      let mean = 0;
      let nearest = 0;
      for (let j = 0; j < this.#size; j += 1) {
        const distance = distanceOf(this.#parameters, places, places.at, i * axes, at, j * axes);
        const shared = matern(distance, scale);
        mean += shared * (this.#alpha[j] as number);
        if (shared > nearest) nearest = shared;
      }
      means[i] = mean;
      const left = scale - (nearest * nearest) / (scale + noise);
      deviationsMost[i] = Math.sqrt(Math.max(VARIANCE_MIN, left));
    }
    return { means, deviationsMost };
  }

  /** Writes the exact deviations at four of the places. */
  deviationsAt(places: Points, four: readonly number[], deviations: Float64Array): void {
    const { axes, at, count } = this.#points;
    const { scale } = this.#parameters;
    const columns = new Float64Array(4 * this.#size);
    for (const [c, i] of four.entries()) {
      for (let j = 0; j < this.#size; j += 1) {
        const distance = distanceOf(this.#parameters, places, places.at, i * axes, at, j * axes);
        columns[4 * j + c] = matern(distance, scale);
      }
    }
    solveLowerFour(this.#factor, count, 0, this.#size, columns);
    for (const [c, i] of four.entries()) {
      let variance = scale;
      for (let j = c; j < 4 * this.#size; j += 4) {
        variance -= (columns[j] as number) * (columns[j] as number);
      }
      deviations[i] = Math.sqrt(Math.max(VARIANCE_MIN, variance));
    }
  }
}
