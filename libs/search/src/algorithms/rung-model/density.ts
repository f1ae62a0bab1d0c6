/**
 * A density over the box of the axes: a kernel around each place, plus the uniform prior with the weight of one place.
 * On a continuous or ordered axis a kernel is a normal of fixed width, truncated at the ends of the axis. On an axis of
 * unordered choices a kernel gives its own choice a fixed mass and divides the rest among the others.
 */
import { type Axis, isDiscrete } from "../../space/axes.ts";
import { power } from "../../numeric/math.ts";
import { fastExp, SQRT_2_PI } from "../../numeric/normal.ts";
import {
  choiceAt,
  choiceMass,
  massInCell,
  massInside,
  truncatedNormal,
  weightedIndex,
} from "../tpe/kernels.ts";

export type Density = {
  readonly axes: readonly Axis[];
  readonly places: readonly (readonly number[])[];
  readonly weights: readonly number[];
  readonly sum: number;
  /** The width of the kernels on each axis. */
  readonly widths: readonly number[];
  /** The normalisation of each kernel on continuous axes, place after place: its mass between the ends of the axis. */
  readonly masses: Float64Array;
};

/** Places, with the number of trials that each represents. */
export type Sample = {
  readonly places: readonly (readonly number[])[];
  readonly weights: readonly number[];
};

/** `widthOf` returns the width on an axis from the coordinates on it; Scott's factor n^(-1 / (d + 4)) multiplies it. */
export function densityOf(
  axes: readonly Axis[],
  { places, weights }: Sample,
  widthOf: (coordinates: readonly number[]) => number,
  widthMin: number,
): Density {
  const shrunk = power(Math.max(1, places.length), -1 / (axes.length + 4));
  const widths = axes.map((axis, index) => {
    const coordinates = places.map((place) => coordinateOn(axis, place[index] ?? 0));
    return Math.max(widthMin, widthOf(coordinates) * shrunk);
  });
  const masses = massesOf(axes, places, widths);
  return { axes, places, weights, sum: weights.reduce((a, b) => a + b, 1), widths, masses };
}

function massesOf(
  axes: readonly Axis[],
  places: readonly (readonly number[])[],
  widths: readonly number[],
): Float64Array {
  const masses = new Float64Array(places.length * axes.length);
  for (const [k, place] of places.entries()) {
    for (const [j, axis] of axes.entries()) {
      if (isDiscrete(axis)) continue;
      const width = widths[j] ?? 1;
      masses[k * axes.length + j] = width * SQRT_2_PI * massInside(place[j] ?? 0, width);
    }
  }
  return masses;
}

/** Returns 1.06 times the standard deviation of the coordinates: the reference rule for normals. */
export function spreadWidth(coordinates: readonly number[]): number {
  const count = coordinates.length;
  if (count < 2) return 1;
  const mean = coordinates.reduce((a, b) => a + b, 0) / count;
  const squares = coordinates.reduce((a, b) => a + (b - mean) * (b - mean), 0);
  return 1.06 * Math.sqrt(squares / (count - 1));
}

function coordinateOn(axis: Axis, at: number): number {
  return isDiscrete(axis) ? (at + 0.5) / axis.cells : at;
}

function isChoice({ hyperparameter }: Axis): boolean {
  return hyperparameter.type === "categorical";
}

/** The density at a place, divided by that of the uniform prior. */
export function densityAt(
  { axes, places, weights, sum, widths, masses }: Density,
  at: readonly number[],
): number {
  const kernels = places.length + 1;
  let total = 1;
  for (const [k, place] of places.entries()) {
    let mass = weights[k] ?? 0;
    for (let j = 0; j < axes.length && mass > 0; j += 1) {
      const axis = axes[j] as Axis;
      const own = place[j] ?? 0;
      const width = widths[j] ?? 1;
      mass *= isDiscrete(axis)
        ? cellOn(axis, own, at[j] ?? 0, width, kernels)
        : normalOn(own, at[j] ?? 0, width, masses[k * axes.length + j] ?? 1);
    }
    total += mass;
  }
  return total / sum;
}

/** The squared distance, in widths, beyond which a kernel is negligible beside the prior. */
const NEGLIGIBLE = 80;

function normalOn(own: number, at: number, width: number, mass: number): number {
  const distance = (at - own) / width;
  const squared = distance * distance;
  return squared > NEGLIGIBLE ? 0 : fastExp(-squared / 2) / mass;
}

function cellOn(axis: Axis, own: number, at: number, width: number, kernels: number): number {
  const { cells } = axis;
  if (isChoice(axis)) return choiceMass(own === at, cells, kernels) * cells;
  return massInCell(at, cells, (own + 0.5) / cells, width) * cells;
}

/**
 * Draws a place from the density with its widths multiplied; `chance(0)` chooses the kernel, `chance(1)` and so on the
 * coordinates.
 */
export function placeFrom(
  { axes, places, weights, widths }: Density,
  widening: number,
  chance: (i: number) => number,
): number[] {
  const centre = places[weightedIndex(weights, 1, chance(0))];
  return axes.map((axis, j) => {
    const share = chance(j + 1);
    const { cells } = axis;
    const own = centre?.[j];
    if (isChoice(axis) && own !== undefined) {
      return choiceAt(own, cells, places.length + 1, share);
    }
    const drawn =
      own === undefined
        ? share
        : truncatedNormal(coordinateOn(axis, own), (widths[j] ?? 1) * widening, share);
    if (isDiscrete(axis)) return Math.min(cells - 1, Math.floor(drawn * cells));
    // A coordinate of an int with many values is moved to the middle of its cell, as in the trial's own place.
    return cells === 0 ? drawn : (Math.floor(drawn * cells) + 0.5) / cells;
  });
}
