/**
 * A tree of Parzen estimators (J. Bergstra, R. Bardenet, Y. Bengio, B. Kégl, NIPS 2011): the first trials fill the
 * space (a Sobol sequence) until ten have ended; then the trials are parted into the good and the others
 * (`tpe/split.ts`), each set is smoothed to a density (`tpe/estimator.ts`), l of the good and g of the others, 24
 * candidates are drawn from l, and the one with the largest l / g is proposed. With `multivariate` the densities are
 * joint (S. Falkner, A. Klein, F. Hutter, ICML 2018), else each axis has its own.
 *
 * A trial's value is its best one; of several metrics it has those of its last report (`several-objectives.ts`). A
 * trial that failed, that had invalid hyperparameters or no finite value, or that is still running, is among the
 * others. Nothing is waited for. It does not model how a value grows with training.
 */
import type { ProposedPoint } from "../algorithm.ts";
import { derivedFrom } from "../derived.ts";
import { axesOfPlan, coordinatesOf, pointAt } from "../space/axes.ts";
import { allowedPlace } from "../space/rules/places.ts";
import type { RunningSearch, SearchPlan } from "../state.ts";
import { modelBased } from "./model-based.ts";
import type { ModelState } from "./model-state.ts";
import { sobolPoints } from "./sobol.ts";
import { jointPlace, placeByAxis } from "./tpe/candidates.ts";
import { type Box, boxOf, estimatorOf } from "./tpe/estimator.ts";
import { Gaps } from "./tpe/gaps.ts";
import { goodCount, type Samples, splitTrials } from "./tpe/split.ts";

/** Trials that have ended before the model is asked. */
const STARTUP = 10;
const CANDIDATES = 24;

export const tpe = modelBased("tpe", nextPoint);

/** The point of the next trial; its place is added to those that are proposed together. */
function nextPoint(
  search: RunningSearch<ModelState>,
  trial: number,
  more: (readonly number[])[],
): ProposedPoint {
  const { space } = search.plan;
  const axes = axesOfPlan(search.plan);
  if (search.memory.ended < STARTUP || axes.length === 0) {
    return sobolPoints(search.plan)(trial);
  }
  const place = suggestedPlace(search, trial, more);
  if (place === null) return sobolPoints(search.plan)(trial);
  more.push(place);
  const memory = search.memory;
  const evidence = { results: memory.ended, good: goodCount(memory) };
  return { hyperparameters: pointAt(space, coordinatesOf(axes, place)), origin: "model", evidence };
}

/** Null where the constraints refuse every candidate. */
function suggestedPlace(
  search: RunningSearch<ModelState>,
  trial: number,
  more: readonly (readonly number[])[],
): number[] | null {
  const { plan } = search;
  const axes = axesOfPlan(plan);
  const { box, gaps } = derivedFrom(plan, boxAndGaps);
  const samples = splitTrials(search, more);
  const good = estimatorOf(box, samples.good);
  const others = estimatorOf(box, samples.others, gaps);
  const chance = { seed: plan.seed, trial, candidates: CANDIDATES };
  const allowed = (place: number[]): number[] | null => allowedPlace(plan, axes, place);
  const isNew = newPlaces(box, samples);
  if (plan.searcher["multivariate"] === false) {
    const place = allowed(placeByAxis(good, others, chance));
    // Constraints, and what has been tried, are of axes together: where the best of each do not do, the joint one is
    // asked.
    if (place !== null && isNew(place)) return place;
  }
  const place = jointPlace(good, others, chance, (drawn) => {
    const place = allowed(drawn);
    return place === null || isNew(place) ? place : null;
  });
  return place ?? jointPlace(good, others, chance, allowed);
}

/** Whether no trial was at a place. Without a continuous axis a place that is good is drawn again and again. */
function newPlaces(
  { continuous }: Box,
  { good, others }: Samples,
): (place: readonly number[]) => boolean {
  if (continuous.length > 0) return () => true;
  const seen = new Set([...good.places, ...others.places].map((place) => place.join()));
  return (place) => !seen.has(place.join());
}

/** Caches of a plan: computed once, or updated from one decision to the next. */
function boxAndGaps(plan: SearchPlan): { readonly box: Box; readonly gaps: Gaps } {
  const box = boxOf(axesOfPlan(plan));
  return { box, gaps: new Gaps(box.continuous) };
}
