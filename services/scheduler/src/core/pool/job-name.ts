import { isTaskId } from "@trainyard/kernel";

/** Returns a job as messages name it. */
export function jobName(job: string): string {
  return `${isTaskId(job) ? "task" : "experiment"} ${job}`;
}
