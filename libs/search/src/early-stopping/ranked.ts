/**
 * Values as policies compare them: smaller first, whatever the direction, and what is not finite as the largest number
 * there is, so that it is worse than any value and memories stay plain JSON.
 */
import type { Json } from "@trainyard/experiment-config";

export const WORST = Number.MAX_VALUE;

export function rankedValue(value: number, smallerIsBetter: boolean): number {
  if (!Number.isFinite(value)) return WORST;
  return smallerIsBetter ? value : 0 - value;
}

/** A ranked value as it was reported; null for one that is not finite. */
export function shownValue(ranked: number, smallerIsBetter: boolean): number | null {
  if (ranked >= WORST) return null;
  return smallerIsBetter ? ranked : 0 - ranked;
}

/** A value for evidence, which as JSON has no word for what is not finite. */
export function written(value: number): Json {
  return Number.isFinite(value) ? value : String(value);
}
