/**
 * The values of a range with a `step`: minval, minval + step, … up to maxval. An int has the default step 1, unless it
 * is searched on a logarithmic scale (`log: true`).
 */
import type { DoubleHyperparameter, IntHyperparameter } from "./hyperparameters.ts";

export type Steps = {
  readonly minval: number;
  readonly step: number;
  /** The number of values. */
  readonly count: number;
  readonly whole: boolean;
};

/**
 * The tolerance keeps the range's end as its last value if the length is almost a multiple of the step, for example 0.3
 * and 0.1.
 */
const TOLERANCE = 1e-9;

/** Null for a continuous range, and for an int on a logarithmic scale. */
export function stepsOf(hyperparameter: IntHyperparameter | DoubleHyperparameter): Steps | null {
  const { type, minval, maxval } = hyperparameter;
  const whole = type === "int";
  if (whole && hyperparameter.log === true) return null;
  const step = hyperparameter.step ?? (whole ? 1 : null);
  if (step === null) return null;
  const tolerance = whole ? 0 : TOLERANCE;
  return { minval, step, count: Math.floor((maxval - minval) / step + tolerance) + 1, whole };
}

/**
 * Returns value number `cell`, 0 ≤ cell < count. Doubles are rounded to 15 digits, so that three steps of 0.1 are 0.3.
 */
export function valueOfStep({ minval, step, count, whole }: Steps, cell: number): number {
  const value = minval + Math.min(count - 1, cell) * step;
  return whole ? value : Number(value.toPrecision(15));
}

/** Returns the number of the nearest value. */
export function nearestStep({ minval, step, count }: Steps, value: number): number {
  return Math.min(count - 1, Math.max(0, Math.round((value - minval) / step)));
}

/** Returns whether a number within the range is one of its values. */
export function isOnStep(steps: Steps, value: number): boolean {
  const nearest = valueOfStep(steps, nearestStep(steps, value));
  return Math.abs(value - nearest) <= steps.step * TOLERANCE;
}
