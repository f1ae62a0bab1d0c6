/**
 * The estimator of one axis alone: a kernel a trial as wide as the larger of the gaps to its neighbours, and one for the
 * prior, which is even. Axes are then chosen independently of one another.
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

/** Half the squared distance in widths beyond which a kernel adds nothing that a double could hold beside the prior's. */
const NEGLIGIBLE = 50;

/** The last kernel is the prior's. */
export type AxisEstimator = {
  readonly axis: Axis;
  readonly weights: readonly number[];
  /** Cells where the axis is discrete. */
  readonly places: readonly number[];
  readonly means: Float64Array;
  readonly sigmas: Float64Array;
  /** Each kernel's weight and height over its mass on the axis. */
  readonly factors: Float64Array;
};

export function axisEstimatorOf(axis: Axis, index: number, sample: Sample): AxisEstimator {
  const places = sample.places.map((place) => place[index] ?? 0);
  const weights = [...sample.weights, 1];
  const cells = isDiscrete(axis) ? axis.cells : 0;
  const means = Float64Array.from([
    ...places.map((place) => (cells === 0 ? place : (place + 0.5) / cells)),
    0.5,
  ]);
  const sigmas = sigmasOf(means);
  const factors = means.map(
    (mean, k) =>
      (weights[k] ?? 0) /
      (massInside(mean, sigmas[k] as number) * (sigmas[k] as number) * SQRT_2_PI),
  );
  return { axis, weights, places, means, sigmas, factors };
}

/** The larger distance to the two neighbours; at the ends that to the only one. The last mean is the prior's. */
function sigmasOf(means: Float64Array): Float64Array {
  const count = means.length;
  const smallest = 1 / Math.min(100, count + 1);
  const order = Uint32Array.from(means, (_, k) => k).sort(
    (a, b) => (means[a] as number) - (means[b] as number) || a - b,
  );
  const sigmas = new Float64Array(count);
  for (let i = 0; i < count; i += 1) {
    const k = order[i] as number;
    const mean = means[k] as number;
    const left = i === 0 ? 0 : mean - (means[order[i - 1] as number] as number);
    const right = i === count - 1 ? 0 : (means[order[i + 1] as number] as number) - mean;
    sigmas[k] = Math.min(1, Math.max(smallest, left, right));
  }
  sigmas[count - 1] = 1;
  return sigmas;
}

/** A place drawn from the estimator: one share for the kernel and one for the place. */
export function drawnOnAxis(estimator: AxisEstimator, first: number, second: number): number {
  const { axis, weights, places, means, sigmas } = estimator;
  const { cells } = axis;
  const kernel = weightedIndex(weights, first);
  if (axis.hyperparameter.type === "categorical") {
    const observed = places[kernel];
    return observed === undefined
      ? Math.min(cells - 1, Math.floor(second * cells))
      : choiceAt(observed, cells, weights.length, second);
  }
  const drawn = truncatedNormal(means[kernel] as number, sigmas[kernel] as number, second);
  if (isDiscrete(axis)) return Math.floor(drawn * cells);
  return cells === 0 ? drawn : (Math.floor(drawn * cells) + 0.5) / cells;
}

/** The density, or on a discrete axis the mass, of the sum of all kernels. */
export function densityOnAxis(estimator: AxisEstimator, place: number): number {
  const { axis, weights, places, means, sigmas, factors } = estimator;
  const { cells } = axis;
  const count = means.length;
  let sum = 0;
  if (isDiscrete(axis)) {
    const isChoice = axis.hyperparameter.type === "categorical";
    for (let k = 0; k < count; k += 1) {
      const weight = weights[k] as number;
      if (!isChoice) {
        sum += weight * massInCell(place, cells, means[k] as number, sigmas[k] as number);
      } else {
        sum +=
          weight * (k < places.length ? choiceMass(places[k] === place, cells, count) : 1 / cells);
      }
    }
    return sum;
  }
  for (let k = 0; k < count; k += 1) {
    const distance = (place - (means[k] as number)) / (sigmas[k] as number);
    const exponent = 0.5 * distance * distance;
    if (exponent < NEGLIGIBLE) sum += (factors[k] as number) * fastExp(-exponent);
  }
  return sum;
}
