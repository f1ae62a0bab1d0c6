/** Expected improvement over the smallest value, and where it is largest. */
import { log } from "../../math.ts";
import { normalDensity, normalProbability, SQRT_2_PI } from "../../normal.ts";
import type { Process } from "./model.ts";

/** An axis as proposals see it: 0 cells for a continuum. */
export type SearchedAxis = { readonly cells: number; readonly categorical: boolean };

/** Below this the improvement's own digits are lost, and its asymptote holds to a few per cent. */
const FAR = -5;
/** The best of the candidates that are improved step by step. */
const STARTS = 3;
const SHORTEST_STEP = 1e-4;

/** The logarithm of the expected improvement below `best` of a normal value. */
export function logImprovement(mean: number, deviation: number, best: number): number {
  const z = (best - mean) / deviation;
  const gain =
    z > FAR
      ? log(normalDensity(z) + z * normalProbability(z))
      : -0.5 * z * z - log(SQRT_2_PI) - 2 * log(-z);
  return log(deviation) + gain;
}

/** The place of the largest improvement that was found from the candidates; null when `taken` refuses all of them. */
export function bestPlace(
  process: Process,
  axes: readonly SearchedAxis[],
  best: number,
  candidates: readonly (readonly number[])[],
  taken: (input: readonly number[]) => boolean,
): readonly number[] | null {
  const gainAt = (input: readonly number[]): number => {
    const { mean, deviation } = process.at(input);
    return logImprovement(mean, deviation, best);
  };
  const scored = candidates
    .filter((input) => !taken(input))
    .map((input, order) => ({ input, order, gain: gainAt(input) }))
    .sort((a, b) => b.gain - a.gain || a.order - b.order);
  let found: { readonly input: readonly number[]; readonly gain: number } | null = null;
  for (const start of scored.slice(0, STARTS)) {
    const climbed = climb(start, axes, gainAt, taken);
    if (found === null || climbed.gain > found.gain) found = climbed;
  }
  return found?.input ?? null;
}

type Scored = { readonly input: readonly number[]; readonly gain: number };

/** A step along one axis at a time, shorter where none is better (R. Hooke, T. A. Jeeves, 1961). */
function climb(
  start: Scored,
  axes: readonly SearchedAxis[],
  gainAt: (input: readonly number[]) => number,
  taken: (input: readonly number[]) => boolean,
): Scored {
  let at = start;
  for (let step = 0.08; step > SHORTEST_STEP; ) {
    const before = at;
    for (const [axis, searched] of axes.entries()) {
      for (const value of neighbours(at.input[axis] ?? 0, step, searched)) {
        const input = at.input.with(axis, value);
        const gain = gainAt(input);
        if (gain > at.gain && !taken(input)) at = { input, gain };
      }
    }
    if (at === before) step /= 3;
  }
  return at;
}

function neighbours(at: number, step: number, { cells, categorical }: SearchedAxis): number[] {
  if (categorical) return Array.from({ length: cells }, (_, cell) => (cell + 0.5) / cells);
  const length = cells === 0 ? step : Math.max(1, Math.round(step * cells)) / cells;
  const inside = cells === 0 ? [0, 1 - 2 ** -53] : [0.5 / cells, 1 - 0.5 / cells];
  const [low = 0, high = 1] = inside;
  return [Math.max(low, at - length), Math.min(high, at + length)];
}
