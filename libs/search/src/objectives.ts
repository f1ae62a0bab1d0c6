/** The metrics that a search compares its trials by: one, or several of equal weight. */
import type { JsonObject, SearchObjective } from "@trainyard/experiment-config";

export type Objective = { readonly metric: string; readonly smallerIsBetter: boolean };

type Compared = {
  readonly searcher: JsonObject;
  readonly metric: string;
  readonly smallerIsBetter: boolean;
};

/** The first is the search's metric, by which its best trial goes. */
export function objectivesOf({
  searcher,
  metric,
  smallerIsBetter,
}: Compared): readonly Objective[] {
  const several = searcher["objectives"] as readonly SearchObjective[] | undefined;
  if (several === undefined) return [{ metric, smallerIsBetter }];
  return several.map((one) => ({
    metric: one.metric,
    smallerIsBetter: one.smaller_is_better,
  }));
}

/** The finite values of all objectives, in their order; null where one is not there. */
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

/** Values of which the smaller is the better, for each objective. */
export function scoresOf(
  objectives: readonly Objective[],
  values: readonly number[],
): readonly number[] {
  return values.map((value, i) => (objectives[i]?.smallerIsBetter === false ? 0 - value : value));
}
