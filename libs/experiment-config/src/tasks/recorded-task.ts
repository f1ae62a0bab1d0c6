/** The facts of a task's recorded configuration that its runs are requested and launched with. */
import type { RequestedResources } from "../requested-resources.ts";
import type { VariablesByDevice } from "../sections/variables.ts";
import { requestedTaskResources, taskConfig } from "./recorded.ts";

export type RecordedTask = {
  /** A text is run by the shell, a list directly; empty for a shell without a command. */
  readonly entrypoint: string | readonly string[];
  /** The resources of each run. A task runs on one agent. */
  readonly resources: RequestedResources;
  /** Whether a run makes room for others, and is queued again afterwards. */
  readonly preemptible: boolean;
  /** How often a failed or lost run is repeated. */
  readonly maxRestarts: number;
  readonly variables: VariablesByDevice;
};

/** Reads a recorded configuration of a task; never fails: absent or malformed values get their defaults. */
export function recordedTask(struct: unknown): RecordedTask {
  const config = taskConfig(struct);
  return {
    entrypoint: config.entrypoint,
    resources: requestedTaskResources(config),
    preemptible: config.resources.preemptible,
    maxRestarts: config.max_restarts,
    variables: config.environment.environment_variables,
  };
}
