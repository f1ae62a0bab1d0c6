/**
 * The open trials by their last reported values, to find the lower end of a population as population-based training
 * counts it (n_q = ⌈q n⌉, at most half, of two or more).
 */
import { insert, placeOf, type Ranking, remove } from "../ranking.ts";
import type { UndoLog } from "../undo-log.ts";

/** The trial's value in the ranking; null for a trial that is not ranked. */
export type Standing = { readonly value: number | null; readonly donor: boolean };

export const noStanding: Standing = { value: null, donor: false };

/** Ranks a trial by its value; null removes it. */
export function rank(
  ranking: Ranking,
  trial: number,
  before: number | null,
  value: number | null,
  undo: UndoLog,
): void {
  if (before !== null) remove(undo, ranking, { value: before, order: trial, trial });
  if (value !== null) insert(undo, ranking, { value, order: trial, trial });
}

export type Place = { readonly rank: number; readonly of: number; readonly lower: number };

/** Returns the trial's rank, from 1, and the size `lower` of the lower quantile. */
export function placeAmong(
  ranking: Ranking,
  trial: number,
  value: number,
  quantile: number,
): Place {
  const of = ranking.size;
  const lower = of < 2 ? 0 : Math.min(Math.ceil(quantile * of), Math.floor(of / 2));
  return { rank: placeOf(ranking, { value, order: trial, trial }) + 1, of, lower };
}

export function isLower({ rank, of, lower }: Place): boolean {
  return rank > of - lower;
}
