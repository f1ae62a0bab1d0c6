/**
 * The points that trials get where no model proposes them: those that the configuration gives, and then those that are
 * drawn. Trial n's own draw is number n of each stream; where the constraints refuse it, it is drawn again, each
 * attempt with numbers of its own, so that a trial's point depends on the plan and its number alone.
 */
import type { HyperparameterSpace, JsonObject } from "@trainyard/experiment-config";
import { draw, isMapping } from "@trainyard/kernel";
import type { ProposedPoint } from "../algorithm.ts";
import { searchLimits } from "../limits.ts";
import { fullPoint, valueAtShare } from "./space.ts";
import { valueAtKeys, withoutAbsent } from "./rules/conditions.ts";
import { isAllowed, isConstrained } from "./rules/constraints.ts";
import type { SearchedSpace, SearchPlan } from "../state.ts";

/** The point that a trial gets without a model: a function of the plan and the trial's number. */
export function pointOfTrial(plan: SearchPlan, trial: number): ProposedPoint {
  const given = givenPoints(plan)[trial - 1];
  const asGiven = given === undefined ? null : drawnPoint(plan, plan.seed, trial, given);
  if (asGiven !== null) return { hyperparameters: asGiven, origin: "given" };
  const hyperparameters =
    drawnPoint(plan, plan.seed, trial, {}) ??
    firstDrawn(plan, {}) ??
    attempt(plan.space, plan.seed, trial, 0, {});
  return { hyperparameters, origin: "drawn" };
}

/** How many of the first trials have points that the configuration gives. */
export function givenTrials(plan: SearchedSpace): number {
  return givenPoints(plan).length;
}

export function givenPoints({ searcher }: SearchedSpace): readonly JsonObject[] {
  const warmStart = searcher["warm_start"];
  const points = isMapping(warmStart) ? warmStart["points"] : undefined;
  return Array.isArray(points) ? points.filter(isMapping) : [];
}

/** The first attempt of a trial that satisfies the constraints and has all that is given; null if there is none. */
function drawnPoint(
  plan: SearchedSpace,
  seed: number,
  trial: number,
  given: JsonObject,
): JsonObject | null {
  const free = !isConstrained(plan);
  for (let number = 0; number < searchLimits.attemptsPerPointMax; number += 1) {
    const point = attempt(plan.space, seed, trial, number, given);
    if (includesGiven(point, given) && (free || isAllowed(plan, point))) return point;
  }
  return null;
}

/**
 * The seed of the draws by which a space is found possible: the same for all searches, so that it is known beforehand.
 */
const PROBE_SEED = 0;

/** The first allowed point of the draws by which the space was tried when it was submitted. */
export function firstDrawn(plan: SearchedSpace, given: JsonObject): JsonObject | null {
  return drawnPoint(plan, PROBE_SEED, 0, given);
}

/** One of the draws by which a space is tried. */
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

/** Whether everything that is given is there: a hyperparameter that is not has no use for a value. */
export function includesGiven(point: JsonObject, given: JsonObject): boolean {
  return Object.entries(given).every(([key, value]) => {
    const found = valueAtKeys(point, [key]);
    if (found === undefined) return false;
    return !isMapping(value) || !isMapping(found) || includesGiven(found, value);
  });
}
