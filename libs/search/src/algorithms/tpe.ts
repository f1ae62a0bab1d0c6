/**
 * A tree of Parzen estimators (J. Bergstra, R. Bardenet, Y. Bengio, B. Kégl, NIPS 2011).
 *
 * The first trials fill the space (a Sobol sequence) until ten have ended. After that the trials are split into the
 * good and the others (`tpe/split.ts`), and a density is estimated for each set (`tpe/estimator.ts`): l for the good, g
 * for the others. Of 24 candidates drawn from l, the one with the largest l / g is proposed. With `multivariate` the
 * densities are joint (S. Falkner, A. Klein, F. Hutter, ICML 2018); otherwise each axis has densities of its own.
 *
 * A trial's value is its best value; with several metrics, the values of its last report (`several-objectives.ts`). A
 * trial that is running, failed, had invalid hyperparameters or has no finite value counts among the others. The search
 * waits for no trial. It does not model how values change during training.
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

/** The number of trials that must end before the model is used. */
const STARTUP = 10;
const CANDIDATES = 24;

export const tpe = modelBased("tpe", nextPoint);

/** Returns the point of the next trial; adds its place to those that are proposed together. */
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

/** Returns the suggested place; null if the constraints refuse every candidate. */
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
  if (plan.searcher.name === "tpe" && !plan.searcher.multivariate) {
    const place = allowed(placeByAxis(good, others, chance));
    // Constraints and tried places concern several axes: if the best value of each axis fails, the joint model is used.
    if (place !== null && isNew(place)) return place;
  }
  const place = jointPlace(good, others, chance, (drawn) => {
    const place = allowed(drawn);
    return place === null || isNew(place) ? place : null;
  });
  return place ?? jointPlace(good, others, chance, allowed);
}

/**
 * Returns a test for places without a trial. Without a continuous axis, a good place would be drawn again and again.
 */
function newPlaces(
  { continuous }: Box,
  { good, others }: Samples,
): (place: readonly number[]) => boolean {
  if (continuous.length > 0) return () => true;
  const seen = new Set([...good.places, ...others.places].map((place) => place.join()));
  return (place) => !seen.has(place.join());
}

/** The box and the gaps of a plan, computed once and updated from decision to decision. */
function boxAndGaps(plan: SearchPlan): { readonly box: Box; readonly gaps: Gaps } {
  const box = boxOf(axesOfPlan(plan));
  return { box, gaps: new Gaps(box.continuous) };
}
