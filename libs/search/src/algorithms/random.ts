/**
 * Random search: trials are drawn independently. As many run at a time as may be open, and another is proposed at each
 * end until `max_trials` have been proposed. The searcher `single` is random search of one trial.
 *
 * A trial with invalid hyperparameters does not count and is replaced by a trial with the next number, up to a limit
 * (`limits.ts`). It is not replaced if every trial would have the same hyperparameters. Source: Determined 0.38,
 * `master/pkg/searcher/random.go`, which has no limit of replacements.
 */
import type { SearcherConfig } from "@trainyard/experiment-config";
import type { Algorithm, Size } from "../algorithm.ts";
import { searchLimits } from "../limits.ts";
import { wholeTrainings } from "../planned.ts";
import { pointOfTrial } from "../space/points.ts";
import { isConstant } from "../space/space.ts";
import type { RunningSearch } from "../state.ts";
import { topUp } from "./top-up.ts";

function drawn(name: string, sizeOf: (config: SearcherConfig) => Size): Algorithm {
  return {
    name,
    version: 1,
    ignoresValues: true,
    sizeOf,
    planned: (config) => wholeTrainings(config, sizeOf(config).trialsMax),
    initial: () => null,
    apply: () => {},
    on: (search, observation) => {
      if (observation.kind === "validated") return [];
      return topUp(search, wantedTrials(search), (trial) => pointOfTrial(search.plan, trial));
    },
  };
}

/** The number of trials to propose: those that count, and those that replace invalid ones. */
export function wantedTrials({ plan, outcomes }: RunningSearch): number {
  if (outcomes.invalid === 0 || isConstant(plan.space)) return plan.trialsMax;
  const replaced = Math.max(searchLimits.replacementsMin, plan.trialsMax);
  return plan.trialsMax + Math.min(outcomes.invalid, replaced);
}

export const random: Algorithm = drawn("random", (config) =>
  config.name === "random"
    ? { trialsMax: config.max_trials, concurrentTrialsMax: config.max_concurrent_trials }
    : { trialsMax: 1, concurrentTrialsMax: 1 },
);

export const single: Algorithm = drawn("single", () => ({ trialsMax: 1, concurrentTrialsMax: 1 }));
