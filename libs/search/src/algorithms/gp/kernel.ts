/**
 * Matérn's covariance of smoothness 5/2 with a length scale per axis (C. E. Rasmussen, C. K. I. Williams, 2006, §4.2).
 */
import { fastExp } from "../../numeric/normal.ts";

export type Parameters = {
  /** The weight of each axis: 1 / length². */
  readonly weights: Float64Array;
  /** The variance of the process. */
  readonly scale: number;
  readonly noise: number;
};

/**
 * Points of a box with sides of length 1, stored axis by axis: coordinate `axis` of point i is at index axis × count +
 * i. On a categorical axis, different values have distance 1.
 */
export type Points = {
  readonly axes: number;
  /** Flags of the axes: 1 for a categorical axis. */
  readonly categorical: Uint8Array;
  readonly count: number;
  readonly at: Float64Array;
};

export function pointsOf(
  categorical: readonly boolean[],
  rows: readonly (readonly number[])[],
): Points {
  const axes = categorical.length;
  const count = rows.length;
  const at = new Float64Array(count * axes);
  for (const [i, row] of rows.entries()) {
    for (let axis = 0; axis < axes; axis += 1) at[axis * count + i] = row[axis] as number;
  }
  const flags = Uint8Array.from(categorical, (is) => (is ? 1 : 0));
  return { axes, categorical: flags, count, at };
}

export function placeAt({ axes, count, at }: Points, i: number): Float64Array {
  const place = new Float64Array(axes);
  for (let axis = 0; axis < axes; axis += 1) place[axis] = at[axis * count + i] as number;
  return place;
}

/** Returns the weighted squared distances between a place and the first `size` points. */
export function distancesTo(
  place: Float64Array,
  { axes, categorical, count, at }: Points,
  size: number,
  weights: Float64Array,
): Float64Array {
  const distances = new Float64Array(size);
  for (let axis = 0; axis < axes; axis += 1) {
    const weight = weights[axis] as number;
    const x = place[axis] as number;
    const isCategorical = categorical[axis] === 1;
    for (let j = 0, from = axis * count; j < size; j += 1, from += 1) {
      let apart = x - (at[from] as number);
      if (isCategorical && apart !== 0) apart = 1;
      distances[j] = (distances[j] as number) + weight * apart * apart;
    }
  }
  return distances;
}

const FAR = 600;

/** Replaces distances by covariances: scale × (1 + a + a² / 3) × e^-a with a = √(5 × the weighted squared distance). */
export function matern(distances: Float64Array, scale: number): void {
  for (let j = 0; j < distances.length; j += 1) {
    const a = Math.sqrt(5 * (distances[j] as number));
    const decay = a > FAR ? 0 : scale * fastExp(-a);
    distances[j] = decay * (1 + a + a * a * (1 / 3));
  }
}

/** Like `matern`, and returns the derivatives of the covariances by the weighted squared distances. */
export function maternSlopes(distances: Float64Array, scale: number): Float64Array {
  const slopes = new Float64Array(distances.length);
  for (let j = 0; j < distances.length; j += 1) {
    const a = Math.sqrt(5 * (distances[j] as number));
    const decay = a > FAR ? 0 : scale * fastExp(-a);
    distances[j] = decay * (1 + a + a * a * (1 / 3));
    slopes[j] = (-5 / 6) * (1 + a) * decay;
  }
  return slopes;
}
