import type { Caller } from "../../http/caller.ts";
import { Problem } from "../../http/problem.ts";
import type { TaskDocument } from "../../read-model/core/views/documents.ts";

/**
 * Decides who may see and open a task, and act on it: returns the refusal, or null. Every token of a user may, and
 * every session; a run may not, nor a task for its owner. Handlers, streams and the task's own address ask this
 * function only.
 */
export function mayUseTask(caller: Caller, { id }: Pick<TaskDocument, "id">): Problem | null {
  const run = caller.kind === "user" ? caller.run : caller;
  if (run === null) return null;
  return new Problem(403, "not_your_task", `the run ${run.allocation} may not use task ${id}`);
}
