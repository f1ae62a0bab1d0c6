import { recordedConfig, requestedResources } from "@trainyard/experiment-config/recorded";
import type { RunPlan } from "./state.ts";

/** Returns the request of every run, from the experiment's recorded configuration. */
export function runPlan(config: unknown): RunPlan {
  const recorded = recordedConfig(config);
  return { resources: requestedResources(recorded), maxRestarts: recorded.max_restarts };
}

/** The plan before an experiment is created. */
export const emptyPlan: RunPlan = runPlan(undefined);
