import { isSameUser } from "@trainyard/access";
import type { Backend } from "../../backend.ts";
import { type Caller, creatorOf, mayUseMade, type UserCaller } from "../../http/caller.ts";
import { Problem } from "../../http/problem.ts";
import type { TaskDocument } from "../../read-model/core/views/documents.ts";
import { findTokens } from "../../spaces/tokens.ts";
import { creatorOfTask } from "../../streams.ts";
import { requireFor } from "../rights/guard.ts";
import { findObject } from "../rights/objects.ts";

/**
 * Decides who may see a task, and act on it, beyond the guard: returns the refusal, or null. A run may not, nor a task
 * for its owner.
 */
export function mayUseTask(caller: Caller, { id }: Pick<TaskDocument, "id">): Problem | null {
  const run = caller.kind === "user" ? caller.run : caller;
  if (run === null) return null;
  return new Problem(403, "not_your_task", `the run ${run.allocation} may not use task ${id}`);
}

/** Returns the task. Throws a Problem of 404 for an unknown one, and of 403 if the caller may not use it. */
export async function usableTask(
  backend: Backend,
  id: string,
  caller: Caller,
): Promise<TaskDocument> {
  const task = await backend.get("task", id);
  const refusal = mayUseTask(caller, task);
  if (refusal !== null) throw refusal;
  return task;
}

/**
 * Throws a Problem unless the caller may open the task: its pages, terminals and ports. In a cluster with users only
 * its owner may, while it sees tasks there; a limited token opens only what it started, since who opens a task has the
 * rights of its run. The call that makes a page's session, streams and the task's own address ask this function only.
 */
export async function requireOpens(backend: Backend, id: string, caller: Caller): Promise<void> {
  const refusal = mayUseTask(caller, { id });
  if (refusal !== null) throw refusal;
  const { access } = backend.parts;
  if (!(await access.state()).hasUsers) return;
  const found = await findObject(backend, "task", id);
  requireFor(await access.rightsOf(caller), "task_view", "task", id, found);
  const task = { id, owner: found?.owner ?? "" };
  if (caller.kind === "user" && (await isItsOwner(backend, task, caller))) return;
  const detail = isSameUser(task.owner, creatorOf(caller))
    ? `a limited token opens only the tasks that it started, and not task ${id}`
    : `only its owner opens task ${id}`;
  throw new Problem(403, "not_your_task", detail);
}

/** Whether a caller may do with a task what only its owner may: one with a limited token if that started the task. */
export async function isItsOwner(
  backend: Backend,
  { id, owner }: Pick<TaskDocument, "id" | "owner">,
  caller: UserCaller,
): Promise<boolean> {
  if (!isSameUser(owner, caller.owner)) return false;
  return caller.limits.length === 0 || hasStarted(backend, caller, id);
}

/** Whether the caller's token started a task, or one that was created with it. */
async function hasStarted({ parts }: Backend, caller: UserCaller, id: string): Promise<boolean> {
  const { state: creator } = await parts.executor.cache.load(creatorOfTask, id);
  const token = creator?.tokenId ?? "";
  const ancestors = (await findTokens(parts, [token])).get(token)?.ancestors ?? [];
  return mayUseMade(caller, { token, ancestors });
}

/** Throws a Problem unless the caller may open the ports of a trial: in a cluster with users if it controls it. */
export async function requireOpensTrial(
  backend: Backend,
  id: string,
  caller: UserCaller,
): Promise<void> {
  const { access } = backend.parts;
  if (!(await access.state()).hasUsers) return;
  const found = await findObject(backend, "trial", id);
  requireFor(await access.rightsOf(caller), "experiment_control", "trial", id, found);
}
