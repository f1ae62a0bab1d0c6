import { recordedConfig, requestedResources } from "@trainyard/experiment-config/recorded";
import type { RunPlan } from "./state.ts";

/** The request of every run, by the experiment's configuration as it was recorded. */
export function runPlan(config: unknown): RunPlan {
  const recorded = recordedConfig(config);
  return { resources: requestedResources(recorded), maxRestarts: recorded.max_restarts };
}

/** Before an experiment is created. */
export const emptyPlan: RunPlan = runPlan(undefined);
