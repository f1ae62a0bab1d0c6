/**
 * The spending of a search before it has spent anything: how many trials end at which time, by bracket and in all. For
 * halving it is the case without failures in which every rung lets through as many as it may (Determined's `Simulate`),
 * and the first rung does not rise; what its probes train beyond it is left out.
 */
import type { HyperparameterSpace, SearcherConfig } from "@trainyard/experiment-config";
import { adaptiveAshaPlan } from "./algorithms/adaptive-asha.ts";
import { ashaPlan } from "./algorithms/asha.ts";
import { autoPlan } from "./algorithms/auto.ts";
import { bohbPlan } from "./algorithms/bohb.ts";
import { asyncHalvingPlan } from "./algorithms/async-halving.ts";
import { gridTrials } from "./algorithms/grid.ts";
import { hyperbandPlan } from "./algorithms/hyperband.ts";
import type { BracketPlan, HalvingPlan } from "./halving/plan.ts";

/**
 * `units` is the time at which the trials end; null for as long as the training code itself trains. Policies may end
 * them earlier.
 */
export type TrialsAt = { readonly units: number | null; readonly trials: number };

export type SearchPreview = {
  /** The bracket is counted from 0. */
  readonly rungs: readonly (TrialsAt & { readonly bracket: number })[];
  /** Over all brackets, the shortest first. */
  readonly total: readonly TrialsAt[];
};

export function previewSearch(config: SearcherConfig, space: HyperparameterSpace): SearchPreview {
  const plan = halvingPlanOf(config);
  // A custom search has as many trials as its client proposes, which nobody knows beforehand.
  if (config.name === "custom" && config.max_trials === 0) return { rungs: [], total: [] };
  if (plan === null) {
    const population = populationEnd(config);
    if (population !== null) {
      return { rungs: [{ ...population, bracket: 0 }], total: [population] };
    }
    const units = "max_time" in config ? (config.max_time ?? null) : null;
    const whole = { units, trials: wholeTrials(config, space) };
    return { rungs: [{ ...whole, bracket: 0 }], total: [whole] };
  }
  const rungs = plan.brackets.flatMap((bracket, index) =>
    endsOf(bracket, plan).map((ends) => ({ ...ends, bracket: index })),
  );
  const byUnits = new Map<number | null, number>();
  for (const { units, trials } of rungs) byUnits.set(units, (byUnits.get(units) ?? 0) + trials);
  const total = [...byUnits].map(([units, trials]) => ({ units, trials }));
  return { rungs, total: total.sort((a, b) => (a.units ?? 0) - (b.units ?? 0)) };
}

/** Members copy each other and continue from where the other was, so that the training in all is theirs alone. */
function populationEnd(config: SearcherConfig): TrialsAt | null {
  if (config.name === "pbt") return { units: config.max_time, trials: config.population_size };
  if (config.name === "schedule") {
    return { units: config.schedule.at(-1)?.until ?? 0, trials: 1 };
  }
  return null;
}

/** The plan of a searcher that halves; null for one that trains every trial to its end. */
export function halvingPlanOf(config: SearcherConfig): HalvingPlan | null {
  switch (config.name) {
    case "asha":
      return ashaPlan(config);
    case "bohb":
      return bohbPlan(config);
    case "auto":
      return autoPlan(config);
    case "adaptive_asha":
      return adaptiveAshaPlan(config);
    case "async_halving":
      return asyncHalvingPlan(config);
    case "hyperband":
      return hyperbandPlan(config);
    default:
      return null;
  }
}

function wholeTrials(config: SearcherConfig, space: HyperparameterSpace): number {
  if (config.name === "grid") return gridTrials(config, space);
  return "max_trials" in config ? config.max_trials : 1;
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
