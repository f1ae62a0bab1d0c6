/**
 * The places that a model looks at in the box of the axes, checked against the conditions and constraints of the space.
 */
import { type Axis, coordinatesOf, placeOf, pointAt } from "../axes.ts";
import { derivedFrom } from "../../derived.ts";
import type { SearchedSpace } from "../../state.ts";
import { isConditional } from "./conditions.ts";
import { isAllowed, isConstrained } from "./constraints.ts";

/**
 * The place that a proposal of this one will have: a hyperparameter that is not there is in the middle of its axis.
 * Null where the constraints refuse it, so that the model looks elsewhere.
 */
export function allowedPlace(
  plan: SearchedSpace,
  axes: readonly Axis[],
  place: number[],
): number[] | null {
  if (isPlain(plan)) return place;
  const point = pointAt(plan.space, coordinatesOf(axes, place));
  if (!isAllowed(plan, point)) return null;
  return isConditional(plan.space) ? placeOf(axes, point) : place;
}

/** The same of coordinates, 0 ≤ each < 1. */
export function allowedCoordinates(
  plan: SearchedSpace,
  axes: readonly Axis[],
  coordinates: readonly number[],
): readonly number[] | null {
  if (isPlain(plan)) return coordinates;
  const point = pointAt(plan.space, coordinates);
  if (!isAllowed(plan, point)) return null;
  return isConditional(plan.space) ? coordinatesOf(axes, placeOf(axes, point)) : coordinates;
}

function isPlain(plan: SearchedSpace): boolean {
  return derivedFrom(plan, hasNoRules);
}

function hasNoRules(plan: SearchedSpace): boolean {
  return !isConditional(plan.space) && !isConstrained(plan);
}
