/**
 * A Gaussian process with Matérn's kernel of smoothness 5/2 and a length on each axis (C. E. Rasmussen, C. K. I. Williams,
 * "Gaussian Processes for Machine Learning", 2006, §2 and §4.2), its lengths, scale and noise those of the largest
 * posterior under the priors of Optuna's sampler, found by resilient steps of the gradient (M. Riedmiller, 1993).
 */
import { log } from "../../math.ts";
import { fastExp } from "../../normal.ts";
import { factorise, inverseLower, solveLower, solveUpper } from "./matrix.ts";

/** Inputs are points of a box with sides of 1; on a categorical axis any two that differ are 1 apart. */
export type Shape = { readonly categorical: readonly boolean[] };

export type Parameters = {
  /** 1 / length² of each axis. */
  readonly weights: readonly number[];
  readonly scale: number;
  readonly noise: number;
};

const NOISE_MIN = 1e-6;
const STEPS = 40;

function squared(shape: Shape, axis: number, a: number, b: number): number {
  if (shape.categorical[axis]) return a === b ? 0 : 1;
  return (a - b) * (a - b);
}

export function covariance(
  shape: Shape,
  { weights, scale }: Parameters,
  a: readonly number[],
  b: readonly number[],
): number {
  let distance = 0;
  for (let j = 0; j < a.length; j += 1) {
    distance += (weights[j] as number) * squared(shape, j, a[j] as number, b[j] as number);
  }
  const x = Math.sqrt(5 * distance);
  return x > 600 ? 0 : scale * (1 + x + (x * x) / 3) * fastExp(-x);
}

/** A process that has seen values at inputs; more can be appended up to `width` of them. */
export class Process {
  readonly #shape: Shape;
  readonly #parameters: Parameters;
  readonly #width: number;
  readonly #factor: Float64Array;
  readonly #inputs: (readonly number[])[] = [];
  readonly #values: number[] = [];
  #alpha: Float64Array = new Float64Array(0);

  constructor(shape: Shape, parameters: Parameters, width: number) {
    this.#shape = shape;
    this.#parameters = parameters;
    this.#width = width;
    this.#factor = new Float64Array(width * width);
  }

  see(inputs: readonly (readonly number[])[], values: readonly number[]): void {
    const from = this.#inputs.length;
    this.#inputs.push(...inputs);
    this.#values.push(...values);
    const size = this.#inputs.length;
    for (let i = from; i < size; i += 1) {
      const input = this.#inputs[i] as readonly number[];
      for (let j = 0; j <= i; j += 1) {
        const other = this.#inputs[j] as readonly number[];
        const noise = i === j ? this.#parameters.noise : 0;
        this.#factor[i * this.#width + j] =
          covariance(this.#shape, this.#parameters, input, other) + noise;
      }
    }
    factorise(this.#factor, this.#width, from, size, NOISE_MIN);
    const alpha = Float64Array.from(this.#values);
    solveLower(this.#factor, this.#width, size, alpha);
    solveUpper(this.#factor, this.#width, size, alpha);
    this.#alpha = alpha;
  }

  /** The mean and the standard deviation of the value at an input. */
  at(input: readonly number[]): { readonly mean: number; readonly deviation: number } {
    const size = this.#inputs.length;
    const column = new Float64Array(size);
    let mean = 0;
    for (let i = 0; i < size; i += 1) {
      const other = this.#inputs[i] as readonly number[];
      const shared = covariance(this.#shape, this.#parameters, input, other);
      column[i] = shared;
      mean += shared * (this.#alpha[i] as number);
    }
    solveLower(this.#factor, this.#width, size, column);
    let variance = this.#parameters.scale;
    for (const part of column) variance -= part * part;
    return { mean, deviation: Math.sqrt(Math.max(1e-12, variance)) };
  }
}

/** The parameters with the largest posterior for standardised values at inputs. */
export function fitted(
  shape: Shape,
  inputs: readonly (readonly number[])[],
  values: readonly number[],
): Parameters {
  const axes = shape.categorical.length;
  // Logarithms of the weights, the scale and the noise.
  const at = [...Array.from({ length: axes }, () => log(4)), 0, log(1e-3)];
  const step = at.map(() => 0.3);
  let before = at.map(() => 0);
  let best = { posterior: Number.NEGATIVE_INFINITY, at: [...at] };
  for (let round = 0; round < STEPS; round += 1) {
    const { posterior, gradient } = posteriorAt(shape, inputs, values, at);
    if (posterior > best.posterior) best = { posterior, at: [...at] };
    before = gradient.map((slope, i) => {
      const turn = slope * (before[i] ?? 0);
      step[i] = Math.min(1, Math.max(1e-3, (step[i] ?? 0) * (turn > 0 ? 1.2 : turn < 0 ? 0.5 : 1)));
      if (turn < 0) return 0;
      at[i] = Math.min(8, Math.max(-13.8, (at[i] ?? 0) + Math.sign(slope) * (step[i] ?? 0)));
      return slope;
    });
  }
  return parametersAt(best.at);
}

function parametersAt(logarithms: readonly number[]): Parameters {
  const all = logarithms.map(fastExp);
  return {
    weights: all.slice(0, -2),
    scale: all.at(-2) ?? 1,
    noise: Math.max(NOISE_MIN, all.at(-1) ?? NOISE_MIN),
  };
}

/** The logarithm of the posterior, up to a constant, and its slopes by the logarithms of the parameters. */
function posteriorAt(
  shape: Shape,
  inputs: readonly (readonly number[])[],
  values: readonly number[],
  logarithms: readonly number[],
): { readonly posterior: number; readonly gradient: number[] } {
  const parameters = parametersAt(logarithms);
  const { weights, scale, noise } = parameters;
  const size = inputs.length;
  const factor = new Float64Array(size * size);
  for (let i = 0; i < size; i += 1) {
    for (let j = 0; j <= i; j += 1) {
      factor[i * size + j] =
        covariance(
          shape,
          parameters,
          inputs[i] as readonly number[],
          inputs[j] as readonly number[],
        ) + (i === j ? noise : 0);
    }
  }
  factorise(factor, size, 0, size, NOISE_MIN);
  const inverse = inverseLower(factor, size, size);
  const alpha = Float64Array.from(values);
  solveLower(factor, size, size, alpha);
  let posterior = 0;
  for (let i = 0; i < size; i += 1) {
    posterior -=
      0.5 * (alpha[i] as number) * (alpha[i] as number) + log(factor[i * size + i] as number);
  }
  solveUpper(factor, size, size, alpha);
  for (const weight of weights) posterior -= 0.1 / weight + 0.1 * weight;
  posterior += (logarithms.at(-2) ?? 0) - scale + 0.1 * (logarithms.at(-1) ?? 0) - 30 * noise;
  const gradient = [...weights.map((w) => 0.1 / w - 0.1 * w), 1 - scale, 0.1 - 30 * noise];
  addSlopes(shape, inputs, parameters, alpha, inverse, gradient);
  return { posterior, gradient };
}

/** Half the trace of (α αᵀ - K⁻¹) times the derivative of K by each logarithm. */
function addSlopes(
  shape: Shape,
  inputs: readonly (readonly number[])[],
  { weights, scale, noise }: Parameters,
  alpha: Float64Array,
  inverse: Float64Array,
  gradient: number[],
): void {
  const size = inputs.length;
  const axes = weights.length;
  for (let i = 0; i < size; i += 1) {
    for (let j = 0; j <= i; j += 1) {
      let inverted = 0;
      for (let k = i; k < size; k += 1) {
        inverted += (inverse[k * size + i] as number) * (inverse[k * size + j] as number);
      }
      const pull = (alpha[i] as number) * (alpha[j] as number) - inverted;
      if (i === j) {
        gradient[axes] = (gradient[axes] ?? 0) + 0.5 * pull * scale;
        gradient[axes + 1] = (gradient[axes + 1] ?? 0) + 0.5 * pull * noise;
        continue;
      }
      const a = inputs[i] as readonly number[];
      const b = inputs[j] as readonly number[];
      let distance = 0;
      for (let axis = 0; axis < axes; axis += 1) {
        distance +=
          (weights[axis] as number) * squared(shape, axis, a[axis] as number, b[axis] as number);
      }
      const x = Math.sqrt(5 * distance);
      if (x > 600) continue;
      const decay = scale * fastExp(-x);
      gradient[axes] = (gradient[axes] ?? 0) + pull * decay * (1 + x + (x * x) / 3);
      const slope = (-5 / 6) * (1 + x) * decay * pull;
      for (let axis = 0; axis < axes; axis += 1) {
        const apart = squared(shape, axis, a[axis] as number, b[axis] as number);
        gradient[axis] = (gradient[axis] ?? 0) + slope * apart * (weights[axis] as number);
      }
    }
  }
}
