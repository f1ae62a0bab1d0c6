/**
 * Quasi-random search: trial n is point n - 1 of a Sobol sequence that the seed scrambles (`sobol/sequence.ts`). The
 * trials fill the space evenly, while random trials leave gaps and clusters.
 *
 * Each hyperparameter with a choice has a dimension, in the order of sorted keys. Hyperparameters beyond the 128
 * dimensions of the table are drawn at random. Proposals, replacements and the end are those of random search.
 */
import type { JsonObject, SearcherConfig } from "@trainyard/experiment-config";
import { draw } from "@trainyard/kernel";
import type { Algorithm, ProposedPoint, Size } from "../algorithm.ts";
import { derivedFrom } from "../derived.ts";
import { axesOf, pointAt } from "../space/axes.ts";
import { searchLimits } from "../limits.ts";
import { wholeTrainings } from "../planned.ts";
import { warmStartTrials, pointOfTrial } from "../space/points.ts";
import { isAllowed, isConstrained } from "../space/rules/constraints.ts";
import type { SearchPlan } from "../state.ts";
import { wantedTrials } from "./random.ts";
import {
  type SobolDimension,
  scrambled,
  sobolCoordinate,
  sobolDimension,
  sobolDimensionsMax,
} from "./sobol/sequence.ts";
import { topUp } from "./top-up.ts";

function sizeOf(config: SearcherConfig): Size {
  return config.name === "sobol"
    ? { trialsMax: config.max_trials, concurrentTrialsMax: config.max_concurrent_trials }
    : { trialsMax: 1, concurrentTrialsMax: 1 };
}

export const sobol: Algorithm = {
  name: "sobol",
  version: 1,
  ignoresValues: true,
  sizeOf,
  planned: (config) => wholeTrainings(config, sizeOf(config).trialsMax),
  initial: () => null,
  apply: () => {},
  on: (search, observation) => {
    if (observation.kind === "validated") return [];
    const pointOf = sobolPoints(search.plan);
    return topUp(search, wantedTrials(search), pointOf);
  },
};

/** Returns the quasi-random point of each trial; the first trials get the points that the configuration gives. */
export function sobolPoints(plan: SearchPlan): (trial: number) => ProposedPoint {
  return derivedFrom(plan, pointsOfPlan);
}

function pointsOfPlan(plan: SearchPlan): (trial: number) => ProposedPoint {
  const given = warmStartTrials(plan);
  const points = isConstrained(plan) ? allowedPoints(plan) : sequenceOf(plan);
  return (trial) => {
    const hyperparameters = trial > given ? points(trial - given - 1) : null;
    return hyperparameters === null
      ? pointOfTrial(plan, trial)
      : { hyperparameters, origin: "space_filling" };
  };
}

type Points = (index: number) => JsonObject | null;

/** Returns the points of the sequence by their index from 0. */
function sequenceOf({ space, seed }: SearchPlan): (index: number) => JsonObject {
  const coordinatesOf = axesOf(space).map(({ path }, axis) => {
    if (axis >= sobolDimensionsMax) return (index: number) => draw(seed, path, index + 1);
    const dimension: SobolDimension = scrambled(sobolDimension(axis), seed, `sobol/${path}`);
    return (index: number) => sobolCoordinate(dimension, index) / 2 ** 32;
  });
  return (index) =>
    pointAt(
      space,
      coordinatesOf.map((coordinate) => coordinate(index)),
    );
}

/**
 * Returns the points that the constraints allow, by their index; refused points are skipped, so the others fill the
 * allowed space evenly. The positions of found points are cached. After too many refusals the trial gets a random
 * point.
 */
function allowedPoints(plan: SearchPlan): Points {
  const points = sequenceOf(plan);
  const places: (number | null)[] = [];
  let next = 0;
  return (index) => {
    while (places.length <= index) {
      const last = next + searchLimits.attemptsPerPointMax;
      while (next < last && !isAllowed(plan, points(next))) next += 1;
      places.push(next < last ? next : null);
      if (next < last) next += 1;
    }
    const place = places[index] ?? null;
    return place === null ? null : points(place);
  };
}
