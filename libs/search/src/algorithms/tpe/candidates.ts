/** Candidates drawn from the density of the good trials, and the choice of the one with the best ratio. */
import { draw } from "@trainyard/kernel";
import {
  type AxisKind,
  densityAt,
  densityOnAxis,
  type Estimator,
  PRIOR_MEAN,
  PRIOR_SIGMA,
} from "./estimator.ts";
import { choiceAt, truncatedNormal, weightedIndex } from "./kernels.ts";

/** The random draws of one trial, one per candidate in each stream. */
export type Chance = {
  readonly seed: number;
  readonly trial: number;
  readonly candidates: number;
};

const chanceOf = ({ seed, trial, candidates }: Chance, stream: string, candidate: number): number =>
  draw(seed, stream, trial * candidates + candidate);

const streamOf = ({ axis }: AxisKind): string => `tpe/${axis.path}`;

/**
 * Returns the drawn place with the largest ratio of the joint densities, the first of equal ones. `allowed` maps a
 * place to the one that a proposal would have, or null if it is refused; the result is null if all are refused.
 */
export function jointPlace(
  good: Estimator,
  others: Estimator,
  chance: Chance,
  allowed: (place: number[]) => number[] | null,
): number[] | null {
  const { kinds } = good.box;
  const streams = kinds.map(streamOf);
  let best: number[] | null = null;
  let ratio = 0;
  for (let candidate = 0; candidate < chance.candidates; candidate += 1) {
    const kernel = kernelAt(good, chanceOf(chance, "tpe", candidate));
    const drawn = kinds.map((_, index) =>
      drawnOnAxis(good, kernel, index, chanceOf(chance, streams[index] as string, candidate)),
    );
    const place = allowed(drawn);
    if (place === null) continue;
    const above = densityAt(good, place);
    const below = densityAt(others, place, above / ratio);
    if (above / below > ratio) {
      best = place;
      ratio = above / below;
    }
  }
  return best;
}

/** Returns a place that has, on each axis, the drawn value with the largest ratio of the densities. */
export function placeByAxis(good: Estimator, others: Estimator, chance: Chance): number[] {
  return good.box.kinds.map((kind, index) => {
    const stream = streamOf(kind);
    let best = 0;
    let ratio = 0;
    for (let candidate = 0; candidate < chance.candidates; candidate += 1) {
      const kernel = kernelAt(good, chanceOf(chance, `${stream}/kernel`, candidate));
      const place = drawnOnAxis(good, kernel, index, chanceOf(chance, stream, candidate));
      const above = densityOnAxis(good, index, place);
      const below = densityOnAxis(others, index, place, above / ratio);
      if (above / below > ratio) {
        best = place;
        ratio = above / below;
      }
    }
    return best;
  });
}

/** Returns the kernel at `share` of the sum of weights; the prior's kernel is the last. */
function kernelAt({ weights }: Estimator, share: number): number {
  return weightedIndex(weights, 1, share);
}

/** Draws a value on one axis from a kernel; the kernel after the last is the prior. */
function drawnOnAxis(estimator: Estimator, kernel: number, index: number, share: number): number {
  const { box, count, means, sigmas, cells: observed, cellSigmas } = estimator;
  const { axis, isCells, column } = box.kinds[index] as AxisKind;
  const { cells } = axis;
  const isPrior = kernel === count;
  if (isCells) {
    const cell = isPrior ? 0 : (observed[kernel * box.discrete.length + column] as number);
    if (axis.hyperparameter.type === "categorical") {
      if (isPrior) return Math.min(cells - 1, Math.floor(share * cells));
      return choiceAt(cell, cells, count + 1, share);
    }
    const mean = isPrior ? PRIOR_MEAN : (cell + 0.5) / cells;
    const sigma = isPrior ? PRIOR_SIGMA : (cellSigmas[column]?.[cell] as number);
    return Math.floor(truncatedNormal(mean, sigma, share) * cells);
  }
  const at = kernel * box.continuous.length + column;
  const drawn = isPrior
    ? truncatedNormal(PRIOR_MEAN, PRIOR_SIGMA, share)
    : truncatedNormal(means[at] as number, sigmas[at] as number, share);
  // An int with many values is moved to the middle of its cell, as in the trial's own place.
  return cells === 0 ? drawn : (Math.floor(drawn * cells) + 0.5) / cells;
}
