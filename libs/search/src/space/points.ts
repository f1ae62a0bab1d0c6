/**
 * The points of trials without a model: first those of the configuration, then random ones. Trial n's first draw has
 * number n in each stream. If the constraints refuse it, it is drawn again with numbers of the attempt. A trial's point
 * therefore depends only on the plan and the trial's number.
 */
import type { HyperparameterSpace, JsonObject } from "@trainyard/experiment-config";
import { draw, isMapping } from "@trainyard/kernel";
import type { ProposedPoint } from "../algorithm.ts";
import { searchLimits } from "../limits.ts";
import { fullPoint, valueAtShare } from "./space.ts";
import { valueAtKeys, withoutAbsent } from "./rules/conditions.ts";
import { isAllowed, isConstrained } from "./rules/constraints.ts";
import type { SearchedSpace, SearchPlan } from "../state.ts";

/** Returns the trial's point without a model, which depends only on the plan and the trial's number. */
export function pointOfTrial(plan: SearchPlan, trial: number): ProposedPoint {
  const given = warmStartPoints(plan)[trial - 1];
  const asGiven = given === undefined ? null : drawnPoint(plan, plan.seed, trial, given);
  if (asGiven !== null) return { hyperparameters: asGiven, origin: "given" };
  const hyperparameters =
    drawnPoint(plan, plan.seed, trial, {}) ??
    firstDrawn(plan, {}) ??
    attempt(plan.space, plan.seed, trial, 0, {});
  return { hyperparameters, origin: "drawn" };
}

/** The number of first trials whose points the configuration gives. */
export function warmStartTrials(plan: SearchedSpace): number {
  return warmStartPoints(plan).length;
}

export function warmStartPoints({ searcher }: SearchedSpace): readonly JsonObject[] {
  return searcher.warm_start?.points ?? [];
}

/** Returns the trial's first attempt that satisfies the constraints and has all given values; null if none does. */
function drawnPoint(
  plan: SearchedSpace,
  seed: number,
  trial: number,
  given: JsonObject,
): JsonObject | null {
  const free = !isConstrained(plan);
  for (let number = 0; number < searchLimits.attemptsPerPointMax; number += 1) {
    const point = attempt(plan.space, seed, trial, number, given);
    if (includesValues(point, given) && (free || isAllowed(plan, point))) return point;
  }
  return null;
}

/** The seed of the draws that test a space, the same for all searches, so that the result is known at submission. */
const PROBE_SEED = 0;

/** Returns the first allowed point among the draws that test a space. */
export function firstDrawn(plan: SearchedSpace, given: JsonObject): JsonObject | null {
  return drawnPoint(plan, PROBE_SEED, 0, given);
}

/** Returns one of the draws that test a space. */
export function probe({ space }: SearchedSpace, number: number, given: JsonObject): JsonObject {
  return attempt(space, PROBE_SEED, 0, number, given);
}

function attempt(
  space: HyperparameterSpace,
  seed: number,
  trial: number,
  number: number,
  given: JsonObject,
): JsonObject {
  const counter = trial * searchLimits.attemptsPerPointMax + number;
  const point = fullPoint(space, (hyperparameter, path, keys) => {
    const fixed = valueAtKeys(given, keys);
    if (fixed !== undefined) return fixed;
    const share = number === 0 ? draw(seed, path, trial) : draw(seed, `again/${path}`, counter);
    return valueAtShare(hyperparameter, share);
  });
  return withoutAbsent(space, point);
}

/** Whether the point has all given values; it lacks one if the hyperparameter's condition is false. */
export function includesValues(point: JsonObject, given: JsonObject): boolean {
  return Object.entries(given).every(([key, value]) => {
    const found = valueAtKeys(point, [key]);
    if (found === undefined) return false;
    return !isMapping(value) || !isMapping(found) || includesValues(found, value);
  });
}
