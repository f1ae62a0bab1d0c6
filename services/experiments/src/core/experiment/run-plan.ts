import { recordedConfig } from "@trainyard/experiment-config/recorded";
import type { RunPlan } from "./state.ts";

/** What every run asks for, by the experiment's configuration as it was recorded. */
export function runPlan(config: unknown): RunPlan {
  const { resources, max_restarts } = recordedConfig(config);
  return {
    resources: {
      pool: resources.resource_pool,
      slots: resources.slots_per_trial,
      priority: resources.priority,
      weight: 1,
      singleAgent: false,
    },
    maxRestarts: max_restarts,
  };
}

/** Before an experiment is created. */
export const emptyPlan: RunPlan = runPlan(undefined);
