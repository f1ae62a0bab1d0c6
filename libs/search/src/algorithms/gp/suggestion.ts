/** The slow part of a search by a Gaussian process: from what is known of the trials so far to a point for the next. */
import type { Question, Suggestion } from "../../algorithm.ts";
import { axesOfPlan, isDiscrete, pointAt } from "../../space/axes.ts";
import { exp } from "../../numeric/math.ts";
import { allowedCoordinates } from "../../space/rules/places.ts";
import { sobolPoints } from "../sobol.ts";
import { bestPlace, type SearchedAxis, type Settle } from "./best-place.ts";
import { nearCandidates, wideCandidates } from "./candidates.ts";
import { fitted } from "./fit.ts";
import { logImprovement } from "./improvement.ts";
import type { Learned } from "./inputs.ts";
import { pointsOf } from "./kernel.ts";
import { Process } from "./model.ts";
import { unwarped, warped } from "./warp.ts";

/** Results that the parameters are fitted to: the cost grows with their cube. */
const FITTED_MAX = 100;
/**
 * Climbs that start from the best candidates of the whole box, and from those about the best results: the latter for
 * each second trial only. What is to be gained beside the best result is soon little, and found each time all the same;
 * a search gets out of a hollow by the trials that do not look there first.
 */
const WIDE_STARTS = 7;
const NEAR_STARTS = 3;
/** Two places nearer than this on every axis are one. */
const SAME = 1e-3;

export function suggestionFor({
  plan,
  trial,
  searchVersion,
  results,
  known,
}: Question): Suggestion {
  const { inputs, values: raw, pending, centre, spread } = known as Learned;
  const suggestion = { trial, searchVersion, results };
  const axes = axesOfPlan(plan).map(
    (axis): SearchedAxis => ({
      cells: isDiscrete(axis) ? axis.cells : 0,
      categorical: axis.hyperparameter.type === "categorical",
    }),
  );
  const categorical = axes.map((axis) => axis.categorical);
  const warp = warped(raw);
  const { values } = warp;
  const order = Array.from(values.keys()).sort(
    (a, b) => (values[a] as number) - (values[b] as number) || a - b,
  );
  const telling = mostTelling(order);
  const parameters = fitted(
    pointsOf(
      categorical,
      telling.map((i) => inputs[i] ?? []),
    ),
    Float64Array.from(telling, (i) => values[i] as number),
  );
  const process = new Process(parameters, pointsOf(categorical, [...inputs, ...pending]), values);
  process.see(inputs.length);
  // The expected value where the best was seen: that one may have been luck, which no place can improve on.
  let best = process.leastMean();
  for (const _ of pending) best = Math.min(best, process.believe());
  const settle: Settle = (place) => allowedCoordinates(plan, axesOfPlan(plan), place);
  const isTaken = (place: readonly number[]): boolean =>
    pending.some((other) => place.every((x, axis) => Math.abs(x - (other[axis] ?? 0)) < SAME));
  const centres = order.map((i) => inputs[i] ?? []);
  const wide = pointsOf(categorical, wideCandidates(plan, trial, axes));
  const groups = [{ candidates: wide, starts: WIDE_STARTS }];
  if (trial % 2 === 0) {
    const near = pointsOf(categorical, nearCandidates(plan, trial, axes, centres));
    groups.push({ candidates: near, starts: NEAR_STARTS });
  }
  const searched = { process, axes, best, groups };
  const free: Settle = (place) => (isTaken(place) ? null : settle(place));
  const place = bestPlace({ ...searched, settle: free }) ?? bestPlace({ ...searched, settle });
  if (place === null) return { ...suggestion, ...sobolPoints(plan)(trial), evidence: {} };
  const moments = process.at(Float64Array.from(place));
  const sign = plan.smallerIsBetter ? 1 : -1;
  const valueOf = (expected: number): number => centre + spread * unwarped(warp, expected);
  const { mean, deviation } = moments;
  const evidence = {
    mean: sign * valueOf(mean),
    deviation: (valueOf(mean + deviation) - valueOf(mean - deviation)) / 2,
    // In the deviations that the values have as the model sees them.
    expected_improvement: exp(Math.max(-700, logImprovement(moments, best))),
  };
  return { ...suggestion, hyperparameters: pointAt(plan.space, place), origin: "model", evidence };
}

/** The best half of what the parameters are fitted to, and the newest of the others. */
function mostTelling(order: readonly number[]): readonly number[] {
  if (order.length <= FITTED_MAX) return order;
  const half = FITTED_MAX / 2;
  const newest = order.slice(half).sort((a, b) => b - a);
  return [...order.slice(0, half), ...newest.slice(0, half)];
}
