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
 * Points of a box with sides of length 1, stored one after the other. On a categorical axis, different values have
 * distance 1.
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
  const at = new Float64Array(rows.length * axes);
  for (const [i, row] of rows.entries()) at.set(row, i * axes);
  const flags = Uint8Array.from(categorical, (is) => (is ? 1 : 0));
  return { axes, categorical: flags, count: rows.length, at };
}

const FAR = 600;

/** Returns scale × (1 + a + a² / 3) × e^-a with a = √(5 × the weighted squared distance). */
export function matern(distance: number, scale: number): number {
  const a = Math.sqrt(5 * distance);
  return a > FAR ? 0 : scale * (1 + a + (a * a) / 3) * fastExp(-a);
}

/** The derivative of the covariance by the weighted squared distance. */
export function maternSlope(distance: number, scale: number): number {
  const a = Math.sqrt(5 * distance);
  return a > FAR ? 0 : (-5 / 6) * scale * (1 + a) * fastExp(-a);
}

/** The weighted squared distance between the point at index `i` of `a` and the point at index `j` of `b`. */
export function distanceOf(
  { weights }: Parameters,
  { axes, categorical }: Points,
  a: Float64Array,
  i: number,
  b: Float64Array,
  j: number,
): number {
  let sum = 0;
  for (let axis = 0; axis < axes; axis += 1) {
    let apart = (a[i + axis] as number) - (b[j + axis] as number);
    if (categorical[axis] === 1 && apart !== 0) apart = 1;
    sum += (weights[axis] as number) * apart * apart;
  }
  return sum;
}
