/**
 * The places of earlier searches' trials, the best first, which a rung's model knows before a trial has reached the
 * rung.
 */
import { derivedFrom } from "../../derived.ts";
import { axesOfPlan, placeOf } from "../../space/axes.ts";
import type { SearchPlan } from "../../state.ts";

export function earlierPlaces(plan: SearchPlan): readonly (readonly number[])[] {
  return derivedFrom(plan, rankedPlaces);
}

function rankedPlaces(plan: SearchPlan): readonly (readonly number[])[] {
  const { earlier, metric, smallerIsBetter } = plan;
  const sign = smallerIsBetter ? 1 : -1;
  return earlier
    .map(({ hyperparameters = {}, values }, order) => ({
      place: placeOf(axesOfPlan(plan), hyperparameters),
      score: sign * (values[metric] ?? Number.POSITIVE_INFINITY),
      order,
    }))
    .sort((a, b) => a.score - b.score || a.order - b.order)
    .map(({ place }) => place);
}
