/**
 * Finds the parameters of a process with the largest posterior (C. E. Rasmussen, C. K. I. Williams, "Gaussian Processes
 * for Machine Learning", 2006, §5.4) under the priors of Optuna's sampler, by gradient descent in their logarithms.
 */
import { log } from "../../numeric/math.ts";
import { fastExp } from "../../numeric/normal.ts";
import { type Parameters, type Points } from "./kernel.ts";
import { descend } from "./lbfgs.ts";
import { factorise, inverseColumns, inverseElement, solveLower, solveUpper } from "./matrix.ts";

export const NOISE_MIN = 1e-6;
const STEPS = 30;
/** The descent ends at a step that improves the log posterior by less than this. */
const TOLERANCE = 1e-3;
const BOX = { low: -13.8, high: 8 };
const FAR = 600;

/** Returns the fitted parameters for standardised values at points. */
export function fitted(points: Points, values: Float64Array): Parameters {
  const { axes } = points;
  const squares = squaresOf(points);
  const at = new Float64Array(axes + 2);
  // Starts at lengths of one half and little noise, to find the maximum that explains the values rather than noise.
  at.fill(log(4), 0, axes);
  at[axes + 1] = log(1e-3);
  const fit = new Fit(points, squares, values);
  descend((place, gradient) => fit.slope(place, gradient), at, BOX, STEPS, TOLERANCE);
  return parametersAt(at);
}

function parametersAt(logarithms: Float64Array): Parameters {
  const all = logarithms.map(fastExp);
  const axes = all.length - 2;
  return {
    weights: all.slice(0, axes),
    scale: all[axes] as number,
    noise: Math.max(NOISE_MIN, all[axes + 1] as number),
  };
}

/** The squared distance of each pair of points on each axis: pairs (1, 0), (2, 0), (2, 1), … */
function squaresOf({ axes, categorical, count, at }: Points): Float64Array {
  const squares = new Float64Array((axes * count * (count - 1)) / 2);
  let next = 0;
  for (let i = 1; i < count; i += 1) {
    for (let j = 0; j < i; j += 1) {
      for (let axis = 0; axis < axes; axis += 1) {
        const apart = (at[i * axes + axis] as number) - (at[j * axes + axis] as number);
        const isOne = categorical[axis] === 1 && apart !== 0;
        squares[next] = isOne ? 1 : apart * apart;
        next += 1;
      }
    }
  }
  return squares;
}

class Fit {
  readonly #points: Points;
  readonly #squares: Float64Array;
  readonly #values: Float64Array;
  readonly #factor: Float64Array;
  /** The derivative of the covariance by the weighted squared distance, for each pair of points. */
  readonly #slopes: Float64Array;
  readonly #shared: Float64Array;

  constructor(points: Points, squares: Float64Array, values: Float64Array) {
    const { count } = points;
    this.#points = points;
    this.#squares = squares;
    this.#values = values;
    this.#factor = new Float64Array(count * count);
    this.#slopes = new Float64Array((count * (count - 1)) / 2);
    this.#shared = new Float64Array((count * (count - 1)) / 2);
  }

  /** Returns the negative log posterior, up to a constant; writes its gradient by the logarithms of the parameters. */
  slope(logarithms: Float64Array, gradient: Float64Array): number {
    const parameters = parametersAt(logarithms);
    const { weights, scale, noise } = parameters;
    const size = this.#points.count;
    const axes = weights.length;
    this.#fill(parameters);
    factorise(this.#factor, size, 0, size, NOISE_MIN);
    const alpha = Float64Array.from(this.#values);
    solveLower(this.#factor, size, size, alpha);
    let posterior = 0;
    for (let i = 0; i < size; i += 1) {
      const x = alpha[i] as number;
      posterior -= 0.5 * x * x + log(this.#factor[i * size + i] as number);
    }
    solveUpper(this.#factor, size, size, alpha);
    for (let axis = 0; axis < axes; axis += 1) {
      const weight = weights[axis] as number;
      posterior -= 0.1 / weight + 0.1 * weight;
      gradient[axis] = 0.1 / weight - 0.1 * weight;
    }
    posterior += (logarithms[axes] as number) - scale;
    posterior += 0.1 * (logarithms[axes + 1] as number) - 30 * noise;
    gradient[axes] = 1 - scale;
    gradient[axes + 1] = 0.1 - 30 * noise;
    this.#addSlopes(parameters, alpha, gradient);
    for (let i = 0; i < gradient.length; i += 1) gradient[i] = 0 - (gradient[i] as number);
    return 0 - posterior;
  }

  #fill({ weights, scale, noise }: Parameters): void {
    const size = this.#points.count;
    const axes = weights.length;
    let pair = 0;
    for (let i = 0; i < size; i += 1) {
      for (let j = 0; j < i; j += 1) {
        let distance = 0;
        const from = pair * axes;
        for (let axis = 0; axis < axes; axis += 1) {
          distance += (weights[axis] as number) * (this.#squares[from + axis] as number);
        }
        const a = Math.sqrt(5 * distance);
        const decay = a > FAR ? 0 : scale * fastExp(-a);
        const shared = decay * (1 + a + (a * a) / 3);
        this.#shared[pair] = shared;
        this.#factor[i * size + j] = shared;
        this.#slopes[pair] = (-5 / 6) * (1 + a) * decay;
        pair += 1;
      }
      this.#factor[i * size + i] = scale + noise;
    }
  }

  /** Adds half the trace of (α αᵀ - K⁻¹) times the derivative of K by each log parameter. */
  #addSlopes(
    { weights, scale, noise }: Parameters,
    alpha: Float64Array,
    gradient: Float64Array,
  ): void {
    const size = this.#points.count;
    const axes = weights.length;
    const columns = inverseColumns(this.#factor, size, size);
    const byAxis = new Float64Array(axes);
    let byScale = 0;
    let byNoise = 0;
    let pair = 0;
    for (let i = 0; i < size; i += 1) {
      const a = alpha[i] as number;
      for (let j = 0; j < i; j += 1) {
        const pull = a * (alpha[j] as number) - inverseElement(columns, size, i, j);
        byScale += pull * (this.#shared[pair] as number);
        const slope = pull * (this.#slopes[pair] as number);
        const from = pair * axes;
        for (let axis = 0; axis < axes; axis += 1) {
          byAxis[axis] = (byAxis[axis] as number) + slope * (this.#squares[from + axis] as number);
        }
        pair += 1;
      }
      const own = 0.5 * (a * a - inverseElement(columns, size, i, i));
      byScale += own * scale;
      byNoise += own * noise;
    }
    for (let axis = 0; axis < axes; axis += 1) {
      gradient[axis] =
        (gradient[axis] as number) + (byAxis[axis] as number) * (weights[axis] as number);
    }
    gradient[axes] = (gradient[axes] as number) + byScale;
    gradient[axes + 1] = (gradient[axes + 1] as number) + byNoise;
  }
}
