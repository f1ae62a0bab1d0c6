/**
 * Values as policies compare them: a smaller value is better, whatever the direction. A value that is not finite
 * becomes the largest number, so that it is worse than any other and the state stays plain JSON.
 */
import type { Json } from "@trainyard/experiment-config";

export const WORST = Number.MAX_VALUE;

export function rankedValue(value: number, smallerIsBetter: boolean): number {
  if (!Number.isFinite(value)) return WORST;
  return smallerIsBetter ? value : 0 - value;
}

/** Returns a ranked value as it was reported; null if it was not finite. */
export function shownValue(ranked: number, smallerIsBetter: boolean): number | null {
  if (ranked >= WORST) return null;
  return smallerIsBetter ? ranked : 0 - ranked;
}

/** Converts a value for evidence: JSON has no number for values that are not finite, so they become text. */
export function written(value: number): Json {
  return Number.isFinite(value) ? value : String(value);
}
