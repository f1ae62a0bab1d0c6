/**
 * A tree of Parzen estimators (J. Bergstra, R. Bardenet, Y. Bengio, B. Kégl, NIPS 2011), as Optuna 4.9 has it: the first
 * trials fill the space (a Sobol sequence) until ten have ended; then the trials are parted into the good and the
 * others (`tpe/split.ts`), each set is smoothed to a density, l of the good and g of the others, 24 candidates are drawn
 * from l, and the one with the largest l / g is proposed. With `multivariate` the densities are joint (S. Falkner,
 * A. Klein, F. Hutter, ICML 2018), else each axis has its own.
 *
 * A trial's value is its best one; a trial that failed, that had invalid hyperparameters or no finite value, or that is
 * still running, is among the others. Nothing is waited for. It does not model how a value grows with training.
 */
import { draw } from "@trainyard/kernel";
import type { ProposedPoint } from "../algorithm.ts";
import { coordinatesOf, pointAt } from "../axes.ts";
import { allowedPlace } from "../space-rules/places.ts";
import type { RunningSearch } from "../state.ts";
import { modelBased } from "./model-based.ts";
import { axesOfPlan, modelMemory } from "./model-memory.ts";
import { sobolPoints } from "./sobol.ts";
import { densityAt, drawnPlace, estimatorOf } from "./tpe/multivariate.ts";
import { type Sample, splitTrials } from "./tpe/split.ts";
import { axisEstimatorOf, densityOnAxis, drawnOnAxis } from "./tpe/univariate.ts";

/** Trials that have ended before the model is asked. */
const STARTUP = 10;
const CANDIDATES = 24;

export const tpe = modelBased("tpe", nextPoint);

/** The point of the next trial; its place is added to those that are proposed together. */
function nextPoint(
  search: RunningSearch,
  trial: number,
  more: (readonly number[])[],
): ProposedPoint {
  const { space } = search.plan;
  const axes = axesOfPlan(search.plan);
  if (modelMemory(search.memory).ended < STARTUP || axes.length === 0) {
    return sobolPoints(search.plan)(trial);
  }
  const place = suggestedPlace(search, trial, more);
  if (place === null) return sobolPoints(search.plan)(trial);
  more.push(place);
  return { hyperparameters: pointAt(space, coordinatesOf(axes, place)), origin: "model" };
}

function suggestedPlace(
  search: RunningSearch,
  trial: number,
  more: readonly (readonly number[])[],
): number[] | null {
  const { plan } = search;
  const { good, others } = splitTrials(search, more);
  if (plan.searcher["multivariate"] === false) {
    const place = placeByAxis(search, trial, good, others);
    const allowed = allowedPlace(plan, axesOfPlan(plan), place);
    // Constraints are on axes together: where the best of each alone do not fit, the joint densities are asked.
    if (allowed !== null) return allowed;
  }
  return jointPlace(search, trial, good, others);
}

/** Null where the constraints refuse every candidate. */
function jointPlace(
  search: RunningSearch,
  trial: number,
  good: Sample,
  others: Sample,
): number[] | null {
  const { seed } = search.plan;
  const axes = axesOfPlan(search.plan);
  const streams = ["tpe", ...axes.map(({ path }) => `tpe/${path}`)];
  const l = estimatorOf(axes, good);
  const g = estimatorOf(axes, others);
  return bestOf((candidate) => {
    const counter = trial * CANDIDATES + candidate;
    const drawn = drawnPlace(l, (i) => draw(seed, streams[i] ?? "", counter));
    const place = allowedPlace(search.plan, axes, drawn);
    if (place === null) return { place, ratio: Number.NEGATIVE_INFINITY };
    return { place, ratio: densityAt(l, place) / densityAt(g, place) };
  });
}

function placeByAxis(search: RunningSearch, trial: number, good: Sample, others: Sample): number[] {
  const { seed } = search.plan;
  return axesOfPlan(search.plan).map((axis, index) => {
    const l = axisEstimatorOf(axis, index, good);
    const g = axisEstimatorOf(axis, index, others);
    const kernels = `tpe/${axis.path}/kernel`;
    const places = `tpe/${axis.path}`;
    return bestOf((candidate) => {
      const counter = trial * CANDIDATES + candidate;
      const place = drawnOnAxis(l, draw(seed, kernels, counter), draw(seed, places, counter));
      return { place, ratio: densityOnAxis(l, place) / densityOnAxis(g, place) };
    });
  });
}

/** The place of the candidate with the largest ratio, the first of equals. */
function bestOf<Place>(
  candidateOf: (candidate: number) => { readonly place: Place; readonly ratio: number },
): Place {
  let best = candidateOf(0);
  for (let candidate = 1; candidate < CANDIDATES; candidate += 1) {
    const other = candidateOf(candidate);
    if (other.ratio > best.ratio) best = other;
  }
  return best.place;
}
