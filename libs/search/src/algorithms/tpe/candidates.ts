/** Candidates drawn from the density of the good trials, and the one with the best ratio. */
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

/** The draws of one trial: of stream `name`, for each candidate one. */
export type Chance = {
  readonly seed: number;
  readonly trial: number;
  readonly candidates: number;
};

const chanceOf = ({ seed, trial, candidates }: Chance, stream: string, candidate: number): number =>
  draw(seed, stream, trial * candidates + candidate);

const streamOf = ({ axis }: AxisKind): string => `tpe/${axis.path}`;

/**
 * The place with the largest ratio of the joint densities, the first of equals. `allowed` gives the place as it would
 * be proposed, or null where it may not be; null when none may.
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

/** On each axis the place with the largest ratio of the densities there. */
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

/** The kernel at `share` of the weights, the prior's last. */
function kernelAt({ weights }: Estimator, share: number): number {
  return weightedIndex(weights, 1, share);
}

/** A place on one axis drawn from a kernel; the kernel after the last is the prior. */
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
  // An int with many values is in the middle of its cell, where the trial's own place will be.
  return cells === 0 ? drawn : (Math.floor(drawn * cells) + 0.5) / cells;
}
