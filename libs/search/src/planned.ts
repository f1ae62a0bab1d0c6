/** The training that a search plans, if no trial fails and nothing stops early. */
import type { SearcherConfig } from "@trainyard/experiment-config";
import type { HalvingPlan } from "./halving/plan.ts";

/** `units` is the time at which the trials end, null for the end of the training code. */
export type TrialsAt = { readonly units: number | null; readonly trials: number };

/** The brackets of halving, or the trials that train to one time; null if the search's client decides. */
export type PlannedTraining = HalvingPlan | TrialsAt | null;

/** The plan of a searcher whose trials train until `max_time` or until their code ends. */
export function wholeTrainings(config: SearcherConfig, trials: number): TrialsAt {
  return { units: "max_time" in config ? (config.max_time ?? null) : null, trials };
}
