import { isCheckpointId, isTaskId } from "@trainyard/kernel";
import { checkpointMakers } from "@trainyard/outbound";
import type { Backend } from "../../backend.ts";
import type { Problem } from "../../http/problem.ts";
import type { RequestContext } from "../../http/request-context.ts";
import { notAllowed } from "../rights/guard.ts";
import { findObject, isOfSeenModel } from "../rights/objects.ts";
import { isItsOwner } from "../tasks/access.ts";

/**
 * Returns the refusal of a person who may not read the files of a task's save, or their digests; null for others. They
 * are the `HOME` of a colleague, with keys and passwords: its owner reads them, and those who may control all tasks of
 * the workspace. A version of a model gives its files to those who see the model.
 */
export async function refusalOfFiles(
  backend: Backend,
  checkpoint: string,
  { caller, rights }: Pick<RequestContext, "caller" | "rights">,
): Promise<Problem | null> {
  if (caller.kind !== "user" || caller.run !== null || rights.everywhere("task_control"))
    return null;
  if (!isCheckpointId(checkpoint)) return null;
  const { state: task } = await backend.parts.executor.cache.load(checkpointMakers, checkpoint);
  if (!isTaskId(task)) return null;
  const found = await findObject(backend, "checkpoint", checkpoint);
  if (found === undefined || isOfSeenModel(rights, found)) return null;
  const { workspace, owner } = found;
  if (rights.has("task_control", workspace)) return null;
  if (await isItsOwner(backend, { id: task, owner }, caller)) return null;
  return notAllowed("task_control", workspace);
}

/** Throws a Problem of 403 if a person may not read the files of a task's save. */
export async function requireReadsFiles(
  ...asked: Parameters<typeof refusalOfFiles>
): Promise<void> {
  const refusal = await refusalOfFiles(...asked);
  if (refusal !== null) throw refusal;
}
