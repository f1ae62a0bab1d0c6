/** Checks a model's places in the box of the axes against the conditions and constraints of the space. */
import { isConditional } from "@trainyard/experiment-config";
import { type Axis, coordinatesOf, placeOf, pointAt } from "../axes.ts";
import { derivedFrom } from "../../derived.ts";
import type { SearchedSpace } from "../../state.ts";
import { isAllowed, isConstrained } from "./constraints.ts";

/**
 * Returns the place that a proposal would have: a hyperparameter whose condition is false is in the middle of its axis.
 * Null if the constraints refuse the place.
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

/** Like `allowedPlace` for coordinates, 0 ≤ each < 1. */
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
