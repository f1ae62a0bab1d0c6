/**
 * Explore: the hyperparameters of a copy, from those of its donor. Each one that may change is drawn again with the
 * configured probability; otherwise it is moved: a number is multiplied by one of the factors, and a categorical goes
 * to the choice on its left or right.
 *
 * This follows Ray Tune (`tune/schedulers/pbt.py`), with these differences: every value stays within its bounds, a
 * whole number moves by at least 1, a number with a step by at least that step, and a categorical at an end may stay.
 * Random draws are numbered by the copy's trial.
 */
import {
  type DoubleHyperparameter,
  type IntHyperparameter,
  isWithin,
  type Json,
  type JsonObject,
  type PbtSearcher,
  nearestStep,
  pathOf,
  stepsOf,
  type TypedHyperparameter,
  valueOfStep,
} from "@trainyard/experiment-config";
import { draw, drawInteger } from "@trainyard/kernel";
import { canonical } from "../space/axes.ts";
import { power } from "../numeric/math.ts";
import { pointOf, valueAtShare } from "../space/space.ts";
import { valueAtKeys } from "../space/rules/conditions.ts";
import { isAllowed } from "../space/rules/constraints.ts";
import type { SearchPlan } from "../state.ts";

export type Change = {
  readonly hyperparameter: string;
  readonly how: "resampled" | "perturbed";
  /** The factor of a number; null for a move to a neighbouring choice. */
  readonly factor: number | null;
  readonly from: Json;
  readonly to: Json;
};

export type Explored = {
  readonly hyperparameters: JsonObject;
  readonly changes: readonly Change[];
};

/** The most attempts for an allowed neighbour: a point without one after this many has hardly any. */
const ATTEMPTS = 100;

/** Returns the first attempt that the constraints allow; if none is allowed, the donor's hyperparameters. */
export function explored(
  plan: SearchPlan,
  config: PbtSearcher,
  donor: JsonObject,
  trial: number,
): Explored {
  for (let number = 0; number < ATTEMPTS; number += 1) {
    const found = attempt(plan, config, donor, chanceOf(plan.seed, trial, number));
    if (isAllowed(plan, found.hyperparameters)) return found;
  }
  return { hyperparameters: donor, changes: [] };
}

/** Numbers the draws of one attempt; the first attempt has the trial's own numbers, as without constraints. */
type Chance = (stream: string) => readonly [seed: number, stream: string, counter: number];

function chanceOf(seed: number, trial: number, number: number): Chance {
  if (number === 0) return (stream) => [seed, stream, trial];
  const counter = trial * ATTEMPTS + number;
  return (stream) => [seed, `again/${stream}`, counter];
}

/** A hyperparameter that the donor lacks, because its condition was false, is drawn. */
function attempt(
  { space }: SearchPlan,
  config: PbtSearcher,
  donor: JsonObject,
  chance: Chance,
): Explored {
  const changes: { readonly keys: readonly string[]; readonly change: Change }[] = [];
  const hyperparameters = pointOf(space, (hyperparameter, path, keys) => {
    const from = valueAtKeys(donor, keys);
    const drawn = () => valueAtShare(hyperparameter, draw(...chance(path)));
    if (from === undefined) return drawn();
    const name = pathOf(keys);
    if (!mayChange(hyperparameter) || !isMutated(config, name)) return from;
    const resampled = draw(...chance(`pbt-resample/${path}`)) < config.resample_probability;
    const { to, factor } = resampled
      ? { to: drawn(), factor: null }
      : moved(hyperparameter, from, config.perturb_factors, chance(`pbt-perturb/${path}`));
    const how = resampled ? "resampled" : "perturbed";
    changes.push({ keys, change: { hyperparameter: name, how, factor, from, to } });
    return to;
  });
  // A hyperparameter whose condition became false is removed.
  const there = changes.filter(({ keys }) => valueAtKeys(hyperparameters, keys) !== undefined);
  return { hyperparameters, changes: there.map(({ change }) => change) };
}

function isMutated({ mutate }: PbtSearcher, name: string): boolean {
  return mutate.length === 0 || mutate.some((named) => isWithin(name, named));
}

function mayChange(hyperparameter: TypedHyperparameter): boolean {
  if (hyperparameter.type === "categorical") return hyperparameter.vals.length > 1;
  return hyperparameter.type !== "const";
}

type Moved = { readonly to: Json; readonly factor: number | null };

function moved(
  hyperparameter: TypedHyperparameter,
  from: Json,
  factors: readonly number[],
  chance: ReturnType<Chance>,
): Moved {
  if (hyperparameter.type === "categorical") {
    const step = drawInteger(...chance, 2) === 0 ? -1 : 1;
    return { to: neighbour(hyperparameter.vals, from, step), factor: null };
  }
  const factor = factors[drawInteger(...chance, factors.length)] ?? 1;
  if (typeof from !== "number") return { to: from, factor: null };
  return { to: multiplied(hyperparameter, from, factor), factor };
}

/**
 * Returns the neighbouring choice, at an end the same one; a value that is no choice of the space becomes the first.
 */
function neighbour(choices: readonly Json[], from: Json, step: number): Json {
  const text = canonical(from);
  const at = choices.findIndex((choice) => canonical(choice) === text);
  const to = Math.min(choices.length - 1, Math.max(0, at + step));
  return choices[to] ?? from;
}

function multiplied(hyperparameter: TypedHyperparameter, from: number, factor: number): Json {
  switch (hyperparameter.type) {
    case "int": {
      const { minval, maxval } = hyperparameter;
      if (hyperparameter.step !== undefined) return steppedBy(hyperparameter, from, factor);
      const to = Math.trunc(from * factor);
      // A growing number moves away from zero, as a factor does to negative numbers. Zero grows upwards.
      const direction = factor > 1 === from >= 0 ? 1 : -1;
      return clipped(to === from ? from + direction : to, minval, maxval);
    }
    case "double":
      if (hyperparameter.step !== undefined) return steppedBy(hyperparameter, from, factor);
      return clipped(from * factor, hyperparameter.minval, hyperparameter.maxval);
    case "log": {
      const { base, minval, maxval } = hyperparameter;
      const [one, other] = [power(base, minval), power(base, maxval)];
      // Multiplying by a factor is adding in log space. A base below 1 swaps the bounds.
      return clipped(from * factor, Math.min(one, other), Math.max(one, other));
    }
    default:
      return from;
  }
}

/** Returns the nearest value on the steps, at least one step away. */
function steppedBy(
  hyperparameter: IntHyperparameter | DoubleHyperparameter,
  from: number,
  factor: number,
): number {
  const steps = stepsOf(hyperparameter);
  if (steps === null) return from;
  const [at, to] = [nearestStep(steps, from), nearestStep(steps, from * factor)];
  const direction = factor > 1 === from >= 0 ? 1 : -1;
  return valueOfStep(steps, to === at ? Math.max(0, at + direction) : to);
}

function clipped(value: number, minval: number, maxval: number): number {
  // Adding 0 turns -0 into 0, because JSON has no -0.
  return Math.min(maxval, Math.max(minval, value)) + 0;
}
