import { experimentId, taskId } from "@trainyard/kernel";
import type { ExperimentIds } from "../shell/experiment-ids.ts";

export function memoryIds(): ExperimentIds {
  let last = 0;
  let lastTask = 0;
  return {
    async next() {
      last += 1;
      return experimentId(last);
    },
    async nextTask() {
      lastTask += 1;
      return taskId(lastTask);
    },
  };
}
