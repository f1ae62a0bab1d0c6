/** The slow part of a search by a Gaussian process: computes a point for the next trial from the results so far. */
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

/** The most results that the parameters are fitted to, since the cost grows with their cube. */
const FITTED_MAX = 100;
/**
 * The numbers of climbs from the best candidates of the whole box and from those around the best results. Only every
 * second trial climbs around the best results: improvement there soon becomes small but is always found, so the other
 * trials are needed to leave a local optimum.
 */
const WIDE_STARTS = 7;
const NEAR_STARTS = 3;
/** Two places that differ by less than this on every axis are the same place. */
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
  // The best is a predicted mean, not an observed value, which may have been luck that no place can beat.
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
    // The expected improvement in standard deviations of the values after standardisation.
    expected_improvement: exp(Math.max(-700, logImprovement(moments, best))),
  };
  return { ...suggestion, hyperparameters: pointAt(plan.space, place), origin: "model", evidence };
}

/** Selects the best half of the results to fit, and the newest of the others. */
function mostTelling(order: readonly number[]): readonly number[] {
  if (order.length <= FITTED_MAX) return order;
  const half = FITTED_MAX / 2;
  const newest = order.slice(half).sort((a, b) => b - a);
  return [...order.slice(0, half), ...newest.slice(0, half)];
}
