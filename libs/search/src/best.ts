/** Which trial is the best so far. Values that are not finite are never the best; of equal values the first is. */
import type { Best, SearchState, TrialState } from "./state.ts";

export function isBetter(value: number, than: number | null, smallerIsBetter: boolean): boolean {
  if (!Number.isFinite(value)) return false;
  return than === null || (smallerIsBetter ? value < than : value > than);
}

/**
 * The best among trials that `counts` accepts. Looks at every trial: asked for only when the best one drops out because
 * its hyperparameters were invalid.
 */
export function bestOfAll(
  search: SearchState,
  smallerIsBetter: boolean,
  counts: (trial: TrialState) => boolean,
): Best | null {
  let best: (Best & { readonly at: number }) | null = null;
  for (const [index, trial] of search.trials.entries()) {
    const value = trial.best;
    if (value === null || !counts(trial)) continue;
    const tie = best !== null && value === best.value && trial.bestAt < best.at;
    if (tie || isBetter(value, best?.value ?? null, smallerIsBetter)) {
      best = { trial: index + 1, value, at: trial.bestAt };
    }
  }
  return best === null ? null : { trial: best.trial, value: best.value };
}
