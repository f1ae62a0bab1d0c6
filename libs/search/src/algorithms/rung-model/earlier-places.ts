/** The places of earlier searches' trials, the best first: what a model of a rung knows before any trial has come to one. */
import { placeOf } from "../../space/axes.ts";
import type { SearchPlan } from "../../state.ts";
import { axesOfPlan } from "../model-memory.ts";

const known = new WeakMap<SearchPlan, readonly (readonly number[])[]>();

/** Kept for as long as the plan is, from which they follow. */
export function earlierPlaces(plan: SearchPlan): readonly (readonly number[])[] {
  const before = known.get(plan);
  if (before !== undefined) return before;
  const { earlier, metric, smallerIsBetter } = plan;
  const sign = smallerIsBetter ? 1 : -1;
  const places = earlier
    .map(({ hyperparameters = {}, values }, order) => ({
      place: placeOf(axesOfPlan(plan), hyperparameters),
      score: sign * (values[metric] ?? Number.POSITIVE_INFINITY),
      order,
    }))
    .sort((a, b) => a.score - b.score || a.order - b.order)
    .map(({ place }) => place);
  known.set(plan, places);
  return places;
}
