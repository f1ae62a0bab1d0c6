/**
 * Predicts a search's training: how many trials end at which time, by bracket and in total. For halving it assumes no
 * failures, that every rung promotes as many trials as it may (Determined's `Simulate`), and that the first rung does
 * not rise; the steps of probes are left out.
 */
import type { HyperparameterSpace, SearcherConfig } from "@trainyard/experiment-config";
import { newestAlgorithm } from "./algorithms/registry.ts";
import type { BracketPlan, HalvingPlan } from "./halving/plan.ts";
import type { PlannedTraining, TrialsAt } from "./planned.ts";

export type SearchPreview = {
  /** The trials that end at each rung, which early stopping may end sooner; brackets are numbered from 0. */
  readonly rungs: readonly (TrialsAt & { readonly bracket: number })[];
  /** The trials that end at each time over all brackets, the shortest time first. */
  readonly total: readonly TrialsAt[];
};

export function previewSearch(config: SearcherConfig, space: HyperparameterSpace): SearchPreview {
  const plan = newestAlgorithm(config.name)?.planned(config, space) ?? null;
  if (plan === null) return { rungs: [], total: [] };
  if (!halves(plan)) return { rungs: [{ ...plan, bracket: 0 }], total: [plan] };
  const rungs = plan.brackets.flatMap((bracket, index) =>
    endsOf(bracket, plan).map((ends) => ({ ...ends, bracket: index })),
  );
  const byUnits = new Map<number | null, number>();
  for (const { units, trials } of rungs) byUnits.set(units, (byUnits.get(units) ?? 0) + trials);
  const total = [...byUnits].map(([units, trials]) => ({ units, trials }));
  return { rungs, total: total.sort((a, b) => (a.units ?? 0) - (b.units ?? 0)) };
}

/** The plan of a halving searcher; null for other searchers. */
export function halvingPlanOf(config: SearcherConfig): HalvingPlan | null {
  const plan = newestAlgorithm(config.name)?.planned(config, {}) ?? null;
  return plan !== null && halves(plan) ? plan : null;
}

function halves(plan: NonNullable<PlannedTraining>): plan is HalvingPlan {
  return "brackets" in plan;
}

function endsOf({ units, trials }: BracketPlan, { divisor }: HalvingPlan): TrialsAt[] {
  const ends: TrialsAt[] = [];
  let left = trials;
  for (const [rung, at] of units.entries()) {
    const top = rung === units.length - 1;
    const best = Math.min(left, Math.max(Math.floor(left / divisor), 1));
    const on = top ? 0 : best;
    if (left > on) ends.push({ units: at, trials: left - on });
    left = on;
  }
  return ends;
}
