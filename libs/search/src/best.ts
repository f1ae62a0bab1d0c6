/** Keeps the best trial so far. A value that is not finite is never the best; of equal values, the first is. */
import { TrialOutcome } from "@trainyard/contracts/events";
import type { Best, SearchState, TrialState } from "./state.ts";

export function isBetter(value: number, than: number | null, smallerIsBetter: boolean): boolean {
  if (!Number.isFinite(value)) return false;
  return than === null || (smallerIsBetter ? value < than : value > than);
}

/**
 * Finds the best trial that `counts` accepts. It visits every trial, so it is only called when the best trial drops out
 * because of invalid hyperparameters.
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
 * Returns the best trial to show to users, excluding failed trials. The state's best includes failed trials, because
 * visiting every trial after each failure would be quadratic.
 */
export function bestShown(search: SearchState): Best | null {
  const counts = ({ outcome }: TrialState): boolean =>
    outcome !== TrialOutcome.FAILED && outcome !== TrialOutcome.INVALID_HYPERPARAMETERS;
  const { best, trials, plan } = search;
  const trial = best === null ? undefined : trials[best.trial - 1];
  if (plan === null || trial === undefined || counts(trial)) return best;
  return bestOfAll(search, plan.smallerIsBetter, counts);
}
