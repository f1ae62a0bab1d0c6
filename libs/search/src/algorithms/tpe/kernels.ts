/** Kernels on one axis from 0 to 1: normals truncated at its ends, their mass in cells, and unordered choices. */
import { normalProbability, normalQuantile } from "../../numeric/normal.ts";

/** The probability of the interval from 0 to 1 under a normal with this mean and width. */
export function massInside(mean: number, sigma: number): number {
  return normalProbability((1 - mean) / sigma) - normalProbability(-mean / sigma);
}

/** The quantile `share`, 0 ≤ share < 1, of a normal truncated at 0 and 1. */
export function truncatedNormal(mean: number, sigma: number, share: number): number {
  const low = normalProbability(-mean / sigma);
  const high = normalProbability((1 - mean) / sigma);
  const at = mean + sigma * normalQuantile(low + share * (high - low));
  return Math.min(1 - 2 ** -53, Math.max(0, at));
}

/** The mass in cell `cell` of a truncated normal around the value `mean`. */
export function massInCell(cell: number, cells: number, mean: number, sigma: number): number {
  const low = normalProbability((cell / cells - mean) / sigma);
  const high = normalProbability(((cell + 1) / cells - mean) / sigma);
  return (high - low) / massInside(mean, sigma);
}

/**
 * The probability of a choice under the kernel of an observed choice: each choice has the weight 1 / `kernels`, and the
 * observed one 1 more.
 */
export function choiceMass(same: boolean, choices: number, kernels: number): number {
  return ((same ? 1 : 0) + 1 / kernels) / (1 + choices / kernels);
}

/** The choice at quantile `share`, 0 ≤ share < 1, of the kernel of an observed choice. */
export function choiceAt(
  observed: number,
  choices: number,
  kernels: number,
  share: number,
): number {
  const at = share * (1 + choices / kernels) - 1;
  return at < 0 ? observed : Math.min(choices - 1, Math.floor(at * kernels));
}

/** The index at quantile `share` of the weights; the weight `last` follows those in the list. */
export function weightedIndex(weights: ArrayLike<number>, last: number, share: number): number {
  let sum = 0;
  for (let index = 0; index < weights.length; index += 1) sum += weights[index] as number;
  let rest = share * (sum + last);
  for (let index = 0; index < weights.length; index += 1) {
    rest -= weights[index] as number;
    if (rest < 0) return index;
  }
  return weights.length;
}
