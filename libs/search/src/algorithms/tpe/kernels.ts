/** Kernels on one axis from 0 to 1: normals cut off at its ends, their mass in cells, and choices without order. */
import { normalProbability, normalQuantile } from "../../numeric/normal.ts";

/** The probability that a normal about `mean` gives to what is between 0 and 1. */
export function massInside(mean: number, sigma: number): number {
  return normalProbability((1 - mean) / sigma) - normalProbability(-mean / sigma);
}

/** A draw of the normal cut off at 0 and 1, where `share`, 0 ≤ share < 1, of its mass is below. */
export function truncatedNormal(mean: number, sigma: number, share: number): number {
  const low = normalProbability(-mean / sigma);
  const high = normalProbability((1 - mean) / sigma);
  const at = mean + sigma * normalQuantile(low + share * (high - low));
  return Math.min(1 - 2 ** -53, Math.max(0, at));
}

/** The mass that the cut-off normal about the middle of cell `of` has in cell `cell`. */
export function massInCell(cell: number, cells: number, mean: number, sigma: number): number {
  const low = normalProbability((cell / cells - mean) / sigma);
  const high = normalProbability(((cell + 1) / cells - mean) / sigma);
  return (high - low) / massInside(mean, sigma);
}

/** The probability of a choice under the kernel of an observed one: `kernels` shares the choices not observed get. */
export function choiceMass(same: boolean, choices: number, kernels: number): number {
  return ((same ? 1 : 0) + 1 / kernels) / (1 + choices / kernels);
}

/** The choice at `share`, 0 ≤ share < 1, of the mass of the kernel of an observed choice. */
export function choiceAt(
  observed: number,
  choices: number,
  kernels: number,
  share: number,
): number {
  const at = share * (1 + choices / kernels) - 1;
  return at < 0 ? observed : Math.min(choices - 1, Math.floor(at * kernels));
}

/** The index at `share` of the sum of weights, of which there is one more, `last`, after those in the list. */
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
