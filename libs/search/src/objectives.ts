/** The metrics by which a search compares its trials: one, or several of equal weight. */
import type { SearchObjective, SeveralObjectives } from "@trainyard/experiment-config";

export type Objective = { readonly metric: string; readonly smallerIsBetter: boolean };

/** The keys by which a searcher section of any name says how trials are compared. */
export type ComparedBy = SearchObjective & SeveralObjectives;

/** Returns the objectives; the first is the search's metric, which determines the best trial. */
export function objectivesOf({
  metric,
  smaller_is_better,
  objectives = [{ metric, smaller_is_better }],
}: ComparedBy): readonly Objective[] {
  return objectives.map((one) => ({
    metric: one.metric,
    smallerIsBetter: one.smaller_is_better,
  }));
}

/** Returns the finite values of all objectives in order; null if one is missing. */
export function valuesOfAll(
  objectives: readonly Objective[],
  values: Readonly<Record<string, number>>,
): readonly number[] | null {
  const all: number[] = [];
  for (const { metric } of objectives) {
    const value = values[metric];
    if (value === undefined || !Number.isFinite(value)) return null;
    all.push(value);
  }
  return all;
}

/** Returns scores for all objectives, where smaller is better. */
export function scoresOf(
  objectives: readonly Objective[],
  values: readonly number[],
): readonly number[] {
  return values.map((value, i) => (objectives[i]?.smallerIsBetter === false ? 0 - value : value));
}
