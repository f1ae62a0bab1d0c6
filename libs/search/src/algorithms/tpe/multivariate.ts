/**
 * The joint estimator: one kernel a trial over all axes at once, and one for the prior, which is even over the box. Normals
 * of one width on the continuous axes, 0.1 n^(-1 / (d + 4)) of the axis (Scott's rule, with half of Optuna's factor, which
 * was better on Hartmann6, Ackley-5 and Rosenbrock-4 and no worse on Branin) and at least 1 / min(100, n + 2) of it.
 */
import { type Axis, isDiscrete } from "../../axes.ts";
import { fastExp, SQRT_2_PI } from "../../normal.ts";
import {
  choiceAt,
  choiceMass,
  massInCell,
  massInside,
  truncatedNormal,
  weightedIndex,
} from "./kernels.ts";
import type { Sample } from "./split.ts";

const WIDTH = 0.1;
/** Squared distances in half widths beyond which a kernel adds nothing that a double could hold beside the prior's. */
const NEGLIGIBLE = 50;
const PRIOR_MEAN = 0.5;
const PRIOR_SIGMA = 1;

type Estimator = {
  readonly axes: readonly Axis[];
  readonly sample: Sample;
  readonly sigma: number;
  readonly continuous: readonly number[];
  readonly discrete: readonly number[];
  /** Places on the continuous axes, one trial after the other. */
  readonly means: Float64Array;
  readonly cells: Int32Array;
  /** Each kernel's weight over the mass that its normals have inside the box. */
  readonly factors: Float64Array;
  /** What the density is at most on one continuous axis. */
  readonly height: number;
};

export function estimatorOf(axes: readonly Axis[], sample: Sample): Estimator {
  const { places, weights } = sample;
  const count = places.length;
  const smallest = 1 / Math.min(100, count + 2);
  const sigma = Math.max(smallest, WIDTH * rootOf(count, axes.length));
  const indices = axes.map((_, index) => index);
  const isCells = (index: number): boolean => isDiscrete(axes[index] as Axis);
  const continuous = indices.filter((index) => !isCells(index));
  const discrete = indices.filter(isCells);
  const means = new Float64Array(count * continuous.length);
  const cells = new Int32Array(count * discrete.length);
  const factors = new Float64Array(count);
  const height = 1 / (sigma * SQRT_2_PI);
  for (const [k, place] of places.entries()) {
    let factor = weights[k] ?? 0;
    for (const [j, index] of continuous.entries()) {
      const mean = place[index] ?? 0;
      means[k * continuous.length + j] = mean;
      factor *= height / massInside(mean, sigma);
    }
    for (const [j, index] of discrete.entries()) cells[k * discrete.length + j] = place[index] ?? 0;
    factors[k] = factor;
  }
  return { axes, sample, sigma, continuous, discrete, means, cells, factors, height };
}

/** n^(-1 / (d + 4)) from multiplications: Newton's steps for r^(d + 4) = 1 / n. */
function rootOf(count: number, dimensions: number): number {
  const degree = dimensions + 4;
  const target = 1 / Math.max(1, count);
  let root = 1;
  for (let step = 0; step < 200; step += 1) {
    let high = 1;
    for (let k = 1; k < degree; k += 1) high *= root;
    const next = root - (root * high - target) / (degree * high);
    if (next >= root) break;
    root = next;
  }
  return root;
}

/** A place drawn from the estimator; `chance` gives share number i, the kernel's first and then one for each axis. */
export function drawnPlace(
  { axes, sample, sigma }: Estimator,
  chance: (i: number) => number,
): number[] {
  const { places, weights } = sample;
  const kernel = weightedIndex([...weights, 1], chance(0));
  const centre = places[kernel];
  return axes.map((axis, index) => {
    const share = chance(index + 1);
    const { cells } = axis;
    const isCells = isDiscrete(axis);
    if (isCells && axis.hyperparameter.type === "categorical") {
      if (centre === undefined) return Math.min(cells - 1, Math.floor(share * cells));
      return choiceAt(centre[index] ?? 0, cells, places.length + 1, share);
    }
    const at = centre?.[index];
    const mean = at === undefined ? PRIOR_MEAN : isCells ? (at + 0.5) / cells : at;
    const drawn = truncatedNormal(mean, at === undefined ? PRIOR_SIGMA : sigma, share);
    if (isCells) return Math.floor(drawn * cells);
    // An int with many values lies in the middle of its cell, where the trial's own place will be.
    return cells === 0 ? drawn : (Math.floor(drawn * cells) + 0.5) / cells;
  });
}

/** The density at a place, of the sum of all kernels and not of their mean. */
export function densityAt(estimator: Estimator, place: readonly number[]): number {
  const { axes, sigma, continuous, discrete, means, cells, factors } = estimator;
  const count = factors.length;
  const at = continuous.map((index) => place[index] ?? 0);
  const tables = discrete.map((index) =>
    cellMasses(axes[index] as Axis, place[index] ?? 0, sigma, count + 1),
  );
  const half = 1 / (2 * sigma * sigma);
  const wide = continuous.length;
  let sum = priorAt(estimator, at, place);
  for (let k = 0; k < count; k += 1) {
    let squared = 0;
    for (let j = 0; j < wide; j += 1) {
      const distance = (at[j] as number) - (means[k * wide + j] as number);
      squared += distance * distance;
    }
    const exponent = squared * half;
    if (exponent > NEGLIGIBLE) continue;
    let mass = (factors[k] as number) * fastExp(-exponent);
    for (let j = 0; j < tables.length; j += 1) {
      mass *= (tables[j] as Float64Array)[cells[k * tables.length + j] as number] as number;
    }
    sum += mass;
  }
  return sum;
}

/** The mass of cell `cell` under the kernel of each cell that can have been observed. */
function cellMasses(axis: Axis, cell: number, sigma: number, kernels: number): Float64Array {
  const { cells, hyperparameter } = axis;
  return Float64Array.from({ length: cells }, (_, observed) =>
    hyperparameter.type === "categorical"
      ? choiceMass(observed === cell, cells, kernels)
      : massInCell(cell, cells, (observed + 0.5) / cells, sigma),
  );
}

function priorAt(
  { axes, discrete }: Estimator,
  at: readonly number[],
  place: readonly number[],
): number {
  let mass = 1;
  for (const x of at) {
    const distance = x - PRIOR_MEAN;
    mass *= fastExp(-0.5 * distance * distance) / SQRT_2_PI / massInside(PRIOR_MEAN, PRIOR_SIGMA);
  }
  for (const index of discrete) {
    const axis = axes[index] as Axis;
    mass *=
      axis.hyperparameter.type === "categorical"
        ? 1 / axis.cells
        : massInCell(place[index] ?? 0, axis.cells, PRIOR_MEAN, PRIOR_SIGMA);
  }
  return mass;
}

export type { Estimator };
