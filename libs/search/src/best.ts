/** Keeps the best trial so far. Values that are not finite are never the best; of equal values the first is. */
import { TrialOutcome } from "@trainyard/contracts/events";
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

/**
 * The best trial that people are shown: one that failed does not count. The best of the state counts it, since looking
 * at every trial after each failure would cost a search of many failures the square of their number.
 */
export function bestShown(search: SearchState): Best | null {
  const counts = ({ outcome }: TrialState): boolean =>
    outcome !== TrialOutcome.FAILED && outcome !== TrialOutcome.INVALID_HYPERPARAMETERS;
  const { best, trials, plan } = search;
  const trial = best === null ? undefined : trials[best.trial - 1];
  if (plan === null || trial === undefined || counts(trial)) return best;
  return bestOfAll(search, plan.smallerIsBetter, counts);
}
