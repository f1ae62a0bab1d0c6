/** The units that a search plans to train: the stages of its trials, and how many trials each stage will have. */
import type { HyperparameterSpace, SearcherConfig } from "@trainyard/experiment-config";
import { newestAlgorithm } from "../algorithms/registry.ts";
import { maxTimeOf } from "../early-stopping/rules.ts";
import { previewSearch } from "../preview.ts";

/** The training from the end of the stage before it (0 for the first) until a time. */
export type Stage = {
  readonly until: number;
  /** The trials that the search plans to train in this stage. */
  readonly trials: number;
};

/**
 * `whole`: trials train to one time, and a suspended trial has the rest of its training left. `promotes`: a suspended
 * trial has nothing left, and the share of the plan continues from each stage. `stops`: trials that continue from a
 * stage never stopped, so that those that were stopped early are not made up for.
 */
export type StageForm = "whole" | "promotes" | "stops";

export type UnitPlan = {
  readonly form: StageForm;
  /** The stages in the order of their times; at least one. */
  readonly stages: readonly Stage[];
  /** Whether units are the search's time. Otherwise each trial is one unit, which ends with the trial. */
  readonly timed: boolean;
};

/**
 * Returns the plan of a search; null if only the search's client knows how many trials there will be. `trialsMax` is
 * the number that the search recorded.
 */
export function unitPlanOf(
  searcher: SearcherConfig | null,
  space: HyperparameterSpace,
  trialsMax: number,
): UnitPlan | null {
  const planned =
    searcher === null ? null : (newestAlgorithm(searcher.name)?.planned(searcher, space) ?? null);
  if (searcher !== null && planned !== null && "brackets" in planned) {
    const form = planned.form === "stop" ? "stops" : "promotes";
    return { form, stages: stagesOf(previewSearch(searcher, space).total), timed: true };
  }
  // A population is one whole training per member: a copy continues the training of the member that it copies.
  if (searcher?.name === "pbt") return wholePlan(searcher.population_size, searcher.max_time);
  if (trialsMax === 0) return null;
  return wholePlan(trialsMax, searcher === null ? null : maxTimeOf(searcher));
}

function wholePlan(trials: number, units: number | null): UnitPlan {
  return { form: "whole", stages: [{ until: units ?? 1, trials }], timed: units !== null };
}

/** Returns the stages between the times at which trials end. */
function stagesOf(
  ends: readonly { readonly units: number | null; readonly trials: number }[],
): readonly Stage[] {
  const stages: Stage[] = [];
  let trials = 0;
  for (const end of ends.toReversed()) {
    trials += end.trials;
    stages.unshift({ until: end.units ?? 1, trials });
  }
  return stages;
}
