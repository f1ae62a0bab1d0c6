/** The facts of a task's recorded configuration that its runs are requested and launched with. */
import type { CheckpointStorage } from "../config.ts";
import type { RequestedResources } from "../requested-resources.ts";
import type { VariablesByDevice } from "../sections/variables.ts";
import type { NotebookIdleType } from "./document.ts";
import { keepsWork, requestedTaskResources, taskConfig } from "./recorded.ts";

export type RecordedTask = {
  /** A text is run by the shell, a list directly; empty for every kind but a command. */
  readonly entrypoint: string | readonly string[];
  /** The resources of each run. A task runs on one agent. */
  readonly resources: RequestedResources;
  /** Whether a run makes room for others, and is queued again afterwards. */
  readonly preemptible: boolean;
  /** How often a failed or lost run is repeated. */
  readonly maxRestarts: number;
  readonly variables: VariablesByDevice;
  /** Whether the task's folder is saved, so that the task can be paused and resumed. */
  readonly keepsWork: boolean;
  /** The storage of the saves; null for a task that keeps nothing. */
  readonly checkpointStorage: CheckpointStorage | null;
  /** The folder in which the task starts: absolute, or below its own folder; empty for its own folder. */
  readonly workDir: string;
  /** The time without use after which the task ends; 0 for never, null if the configuration sets none. */
  readonly idleTimeoutSeconds: number | null;
  readonly notebookIdleType: NotebookIdleType;
  /** The time until the server of a notebook or a TensorBoard must answer. */
  readonly readyTimeoutSeconds: number;
  /** Further arguments of TensorBoard. */
  readonly tensorboardArgs: readonly string[];
};

/** Reads a recorded configuration of a task; never fails: absent or malformed values get their defaults. */
export function recordedTask(struct: unknown, kind: string): RecordedTask {
  const config = taskConfig(struct);
  return {
    entrypoint: config.entrypoint,
    resources: requestedTaskResources(config),
    preemptible: config.resources.preemptible,
    maxRestarts: config.max_restarts,
    variables: config.environment.environment_variables,
    keepsWork: keepsWork(kind, config),
    checkpointStorage: config.checkpoint_storage ?? null,
    workDir: config.work_dir,
    idleTimeoutSeconds: config.idle_timeout,
    notebookIdleType: config.notebook_idle_type,
    readyTimeoutSeconds: config.ready_timeout,
    tensorboardArgs: config.tensorboard_args,
  };
}
