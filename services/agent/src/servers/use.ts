/** The use of a task, as its agent sees it at this moment. */
import type { Plain } from "@trainyard/contracts";
import type { Launch } from "@trainyard/contracts/agent";
import type { TaskUse } from "@trainyard/contracts/api";

export type UsedRun = {
  /** Whether the run's processes run, and its server, if the task has one, has answered. */
  readonly isRunning: boolean;
  readonly folder: { readonly launch: Pick<Plain<Launch>, "task"> };
};

export function useOf({ isRunning, folder }: UsedRun): Plain<TaskUse> {
  return {
    ready: isRunning,
    inUse: true,
    idleSeconds: 0,
    idleTimeoutSeconds: folder.launch.task?.idleTimeoutSeconds ?? 0,
    notice: "",
  };
}
