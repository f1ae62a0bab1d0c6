/**
 * Finds the parameters of a process with the largest posterior (C. E. Rasmussen, C. K. I. Williams, "Gaussian Processes
 * for Machine Learning", 2006, §5.4) under the priors of Optuna's sampler, by gradient descent in their logarithms.
 */
import { log } from "../../numeric/math.ts";
import { fastExp } from "../../numeric/normal.ts";
import { maternSlopes, type Parameters, type Points } from "./kernel.ts";
import { descend } from "./lbfgs.ts";
import { factorise, inverseColumns, inverseRow, solveLower, solveUpper } from "./matrix.ts";

export const NOISE_MIN = 1e-6;
const STEPS = 30;
/** The descent ends at a step that improves the log posterior by less than this. */
const TOLERANCE = 1e-3;
const BOX = { low: -13.8, high: 8 };

/** Returns the fitted parameters for standardised values at points. */
export function fitted(points: Points, values: Float64Array): Parameters {
  const { axes } = points;
  const at = new Float64Array(axes + 2);
  // Starts at lengths of one half and little noise, to find the maximum that explains the values rather than noise.
  at.fill(log(4), 0, axes);
  at[axes + 1] = log(1e-3);
  const fit = new Fit(points, values);
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

/**
 * The squared distances of the pairs of points, axis by axis. The pairs are those below the diagonal of a matrix, row
 * by row: (1, 0), (2, 0), (2, 1), …
 */
function squaresOf({ axes, categorical, count, at }: Points): readonly Float64Array[] {
  return Array.from({ length: axes }, (_, axis) => {
    const squares = new Float64Array((count * (count - 1)) / 2);
    const own = at.subarray(axis * count, (axis + 1) * count);
    let pair = 0;
    for (let i = 1; i < count; i += 1) {
      for (let j = 0; j < i; j += 1) {
        const apart = (own[i] as number) - (own[j] as number);
        squares[pair] = categorical[axis] === 1 && apart !== 0 ? 1 : apart * apart;
        pair += 1;
      }
    }
    return squares;
  });
}

class Fit {
  readonly #size: number;
  readonly #squares: readonly Float64Array[];
  readonly #values: Float64Array;
  readonly #factor: Float64Array;

  constructor(points: Points, values: Float64Array) {
    this.#size = points.count;
    this.#squares = squaresOf(points);
    this.#values = values;
    this.#factor = new Float64Array(points.count * points.count);
  }

  /** Returns the negative log posterior, up to a constant; writes its gradient by the logarithms of the parameters. */
  slope(logarithms: Float64Array, gradient: Float64Array): number {
    const parameters = parametersAt(logarithms);
    const { weights, scale, noise } = parameters;
    const size = this.#size;
    const axes = weights.length;
    const shared = this.#distances(weights);
    const slopes = maternSlopes(shared, scale);
    this.#fill(shared, scale + noise);
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
    this.#addSlopes(parameters, { shared, slopes }, alpha, gradient);
    for (let i = 0; i < gradient.length; i += 1) gradient[i] = 0 - (gradient[i] as number);
    return 0 - posterior;
  }

  /** The weighted squared distance of each pair. */
  #distances(weights: Float64Array): Float64Array {
    const distances = new Float64Array((this.#size * (this.#size - 1)) / 2);
    for (const [axis, squares] of this.#squares.entries()) {
      const weight = weights[axis] as number;
      for (let pair = 0; pair < distances.length; pair += 1) {
        distances[pair] = (distances[pair] as number) + weight * (squares[pair] as number);
      }
    }
    return distances;
  }

  #fill(shared: Float64Array, own: number): void {
    for (let i = 0, pair = 0; i < this.#size; pair += i, i += 1) {
      this.#factor.set(shared.subarray(pair, pair + i), i * this.#size);
      this.#factor[i * this.#size + i] = own;
    }
  }

  /** Adds half the trace of (α αᵀ - K⁻¹) times the derivative of K by each log parameter; overwrites the slopes. */
  #addSlopes(
    { weights, scale, noise }: Parameters,
    { shared, slopes }: { readonly shared: Float64Array; readonly slopes: Float64Array },
    alpha: Float64Array,
    gradient: Float64Array,
  ): void {
    const size = this.#size;
    const axes = weights.length;
    const columns = inverseColumns(this.#factor, size, size);
    const inverse = new Float64Array(size);
    let byScale = 0;
    let byNoise = 0;
    let pair = 0;
    for (let i = 0; i < size; i += 1) {
      const a = alpha[i] as number;
      inverseRow(columns, size, i, inverse);
      for (let j = 0; j < i; j += 1) {
        const pull = a * (alpha[j] as number) - (inverse[j] as number);
        byScale += pull * (shared[pair] as number);
        slopes[pair] = pull * (slopes[pair] as number);
        pair += 1;
      }
      const own = 0.5 * (a * a - (inverse[i] as number));
      byScale += own * scale;
      byNoise += own * noise;
    }
    for (const [axis, squares] of this.#squares.entries()) {
      let byAxis = 0;
      for (let k = 0; k < pair; k += 1) byAxis += (slopes[k] as number) * (squares[k] as number);
      gradient[axis] = (gradient[axis] as number) + byAxis * (weights[axis] as number);
    }
    gradient[axes] = (gradient[axes] as number) + byScale;
    gradient[axes + 1] = (gradient[axes + 1] as number) + byNoise;
  }
}
