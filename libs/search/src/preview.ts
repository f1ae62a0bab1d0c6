/**
 * Predicts a search's training: how many trials end at which time, by bracket and in total. For halving it assumes no
 * failures, that every rung promotes as many trials as it may (Determined's `Simulate`), and that the first rung does
 * not rise; the steps of probes are left out.
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
 * `units` is the time at which the trials end, null for the end of the training code. Early stopping may end trials
 * earlier.
 */
export type TrialsAt = { readonly units: number | null; readonly trials: number };

export type SearchPreview = {
  /** The trials that end at each rung; brackets are numbered from 0. */
  readonly rungs: readonly (TrialsAt & { readonly bracket: number })[];
  /** The trials that end at each time over all brackets, the shortest time first. */
  readonly total: readonly TrialsAt[];
};

export function previewSearch(config: SearcherConfig, space: HyperparameterSpace): SearchPreview {
  const plan = halvingPlanOf(config);
  // The number of trials of a custom search without a limit depends on its client.
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

/** Members copy each other and continue at the donor's time, so the total training is one full training per member. */
function populationEnd(config: SearcherConfig): TrialsAt | null {
  if (config.name === "pbt") return { units: config.max_time, trials: config.population_size };
  if (config.name === "schedule") {
    return { units: config.schedule.at(-1)?.until ?? 0, trials: 1 };
  }
  return null;
}

/** The plan of a halving searcher; null for a searcher that trains every trial to its end. */
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
