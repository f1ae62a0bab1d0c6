/**
 * The density estimator of a set of trials: one kernel per trial, and one for the prior, which is uniform over the box.
 *
 * On a continuous axis a kernel is a normal truncated at the ends. Its width is the larger of the gaps to the
 * neighbouring trials on that axis, so that it covers the distance to them. This is the rule of J. Bergstra and others
 * (2011) for one axis, applied to each axis of a product kernel (S. Watanabe, "Tree-structured Parzen estimator", 2023,
 * §3.3). On an int axis of few values the gaps are those between cells with trials.
 *
 * The density of all axes together is `densityAt`, that of a single axis `densityOnAxis`.
 */
import { type Axis, isDiscrete } from "../../space/axes.ts";
import { fastExp, SQRT_2_PI } from "../../numeric/normal.ts";
import { Gaps } from "./gaps.ts";
import { choiceMass, massInCell, massInside } from "./kernels.ts";
import type { Sample } from "./split.ts";

/** Half the squared distance, in widths, beyond which a kernel vanishes in a double beside the prior. */
const NEGLIGIBLE = 50;
export const PRIOR_MEAN = 0.5;
export const PRIOR_SIGMA = 1;
const PRIOR_HEIGHT = 1 / (massInside(PRIOR_MEAN, PRIOR_SIGMA) * SQRT_2_PI);

/** An axis, and its index among the axes of its kind (`isCells`: discrete). */
export type AxisKind = { readonly axis: Axis; readonly isCells: boolean; readonly column: number };

/** The axes of a space by kind, computed from the axes alone. */
export type Box = {
  readonly kinds: readonly AxisKind[];
  /** The indexes of the axes of each kind in a place. */
  readonly continuous: readonly number[];
  readonly discrete: readonly number[];
};

export type Estimator = {
  readonly box: Box;
  readonly sample: Sample;
  readonly count: number;
  /** The coordinates on the continuous axes, trial after trial, the newest first, and the widths of their kernels. */
  readonly means: Float64Array;
  readonly sigmas: Float64Array;
  /** For each coordinate, 1 / (width × √2) and the kernel's height divided by its mass inside the box. */
  readonly scales: Float64Array;
  readonly heights: Float64Array;
  readonly cells: Int32Array;
  /** The width of the kernels in each cell of each discrete axis; 0 for a cell without trials. */
  readonly cellSigmas: readonly Float64Array[];
  /** The weight of each kernel, and that weight times the kernel's heights on all continuous axes. */
  readonly weights: Float64Array;
  readonly factors: Float64Array;
};

export function boxOf(axes: readonly Axis[]): Box {
  const continuous: number[] = [];
  const discrete: number[] = [];
  const kinds = axes.map((axis, index): AxisKind => {
    const isCells = isDiscrete(axis);
    const column = (isCells ? discrete : continuous).push(index) - 1;
    return { axis, isCells, column };
  });
  return { kinds, continuous, discrete };
}

/** Builds an estimator; `gaps` may be reused between samples in the same box. */
export function estimatorOf(
  box: Box,
  sample: Sample,
  gaps: Gaps = new Gaps(box.continuous),
): Estimator {
  const { continuous, discrete, kinds } = box;
  const { trials, places } = sample;
  const count = places.length;
  const smallest = 1 / Math.min(100, count + 2);
  const slots = gaps.hold(trials, places);
  const known = gaps.widths(smallest);
  const wide = continuous.length;
  const narrow = discrete.length;
  const means = new Float64Array(count * wide);
  const sigmas = new Float64Array(count * wide);
  const scales = new Float64Array(count * wide);
  const heights = new Float64Array(count * wide);
  const cells = new Int32Array(count * narrow);
  const weights = new Float64Array(count);
  const factors = new Float64Array(count);
  for (let i = 0; i < count; i += 1) {
    const k = count - 1 - i;
    const place = places[i] as readonly number[];
    const slot = slots[i] as number;
    let factor = sample.weights[i] as number;
    weights[k] = factor;
    for (let j = 0; j < wide; j += 1) {
      const sigma = known.sigmas[slot * wide + j] as number;
      const height = known.heights[slot * wide + j] as number;
      means[k * wide + j] = place[continuous[j] as number] as number;
      sigmas[k * wide + j] = sigma;
      scales[k * wide + j] = Math.SQRT1_2 / sigma;
      heights[k * wide + j] = height;
      factor *= height;
    }
    factors[k] = factor;
    for (let j = 0; j < narrow; j += 1) {
      cells[k * narrow + j] = place[discrete[j] as number] as number;
    }
  }
  const cellSigmas = discrete.map((index, j) =>
    cellWidths((kinds[index] as AxisKind).axis.cells, cells, j, narrow, smallest),
  );
  return {
    box,
    sample,
    count,
    means,
    sigmas,
    scales,
    heights,
    cells,
    cellSigmas,
    weights,
    factors,
  };
}

/** Returns the width of the kernels in each cell with a trial. */
function cellWidths(
  cells: number,
  observed: Int32Array,
  column: number,
  stride: number,
  smallest: number,
): Float64Array {
  const widths = new Float64Array(cells);
  for (let at = column; at < observed.length; at += stride) widths[observed[at] as number] = 1;
  const taken: number[] = [];
  for (let cell = 0; cell < cells; cell += 1) if (widths[cell] === 1) taken.push(cell);
  for (const [i, cell] of taken.entries()) {
    const left = cell - (taken[i - 1] ?? (taken.length === 1 ? 0 : cell));
    const right = (taken[i + 1] ?? (taken.length === 1 ? cells - 1 : cell)) - cell;
    widths[cell] = Math.min(1, Math.max(smallest, left / cells, right / cells));
  }
  return widths;
}

/**
 * Returns the sum of all kernels' densities at a place. The sum stops once it exceeds `most`, for callers that only
 * need to know that it does.
 */
export function densityAt(
  estimator: Estimator,
  place: readonly number[],
  most: number = Number.POSITIVE_INFINITY,
): number {
  const { box, count, means, scales, cells, factors } = estimator;
  const wide = box.continuous.length;
  const narrow = box.discrete.length;
  const at = Float64Array.from(box.continuous, (index) => place[index] as number);
  const masses = box.discrete.map((index, j) => cellMasses(estimator, j, place[index] as number));
  let sum = priorAt(box, place);
  for (let k = 0; k < count && sum <= most; k += 1) {
    let exponent = 0;
    for (let j = 0, i = k * wide; j < wide; j += 1, i += 1) {
      const distance = ((at[j] as number) - (means[i] as number)) * (scales[i] as number);
      exponent += distance * distance;
    }
    if (exponent > NEGLIGIBLE) continue;
    let mass = (factors[k] as number) * fastExp(-exponent);
    for (let j = 0; j < narrow; j += 1) {
      mass *= (masses[j] as Float64Array)[cells[k * narrow + j] as number] as number;
    }
    sum += mass;
  }
  return sum;
}

/** Returns the density at a value on one axis alone. */
export function densityOnAxis(
  estimator: Estimator,
  index: number,
  place: number,
  most: number = Number.POSITIVE_INFINITY,
): number {
  const { box, count, means, scales, heights, cells, weights } = estimator;
  const { isCells, column } = box.kinds[index] as AxisKind;
  let sum = priorOnAxis(box.kinds[index] as AxisKind, place);
  if (isCells) {
    const masses = cellMasses(estimator, column, place);
    for (let k = 0, at = column; k < count; k += 1, at += box.discrete.length) {
      sum += (weights[k] as number) * (masses[cells[at] as number] as number);
    }
    return sum;
  }
  const wide = box.continuous.length;
  for (let k = 0, i = column; k < count && sum <= most; k += 1, i += wide) {
    const distance = (place - (means[i] as number)) * (scales[i] as number);
    const exponent = distance * distance;
    if (exponent > NEGLIGIBLE) continue;
    sum += (weights[k] as number) * (heights[i] as number) * fastExp(-exponent);
  }
  return sum;
}

/** Returns the mass of cell `cell` of discrete axis j under the kernel of each cell with a trial. */
function cellMasses({ box, cellSigmas, count }: Estimator, j: number, cell: number): Float64Array {
  const { cells, hyperparameter } = (box.kinds[box.discrete[j] as number] as AxisKind).axis;
  const sigmas = cellSigmas[j] as Float64Array;
  const masses = new Float64Array(cells);
  const isChoice = hyperparameter.type === "categorical";
  for (let observed = 0; observed < cells; observed += 1) {
    const sigma = sigmas[observed] as number;
    if (sigma === 0) continue;
    masses[observed] = isChoice
      ? choiceMass(observed === cell, cells, count + 1)
      : massInCell(cell, cells, (observed + 0.5) / cells, sigma);
  }
  return masses;
}

function priorAt({ kinds }: Box, place: readonly number[]): number {
  let mass = 1;
  for (const [index, kind] of kinds.entries()) mass *= priorOnAxis(kind, place[index] as number);
  return mass;
}

function priorOnAxis({ axis, isCells }: AxisKind, place: number): number {
  if (!isCells) {
    const distance = place - PRIOR_MEAN;
    return PRIOR_HEIGHT * fastExp(-0.5 * distance * distance);
  }
  return axis.hyperparameter.type === "categorical"
    ? 1 / axis.cells
    : massInCell(place, axis.cells, PRIOR_MEAN, PRIOR_SIGMA);
}
