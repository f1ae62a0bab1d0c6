/** Finds the run behind the address of a task's page. */
import type { KeyObject } from "node:crypto";
import { taskSecret } from "@trainyard/runtime";
import type { Target } from "@trainyard/tunnel";
import type { Backend } from "../../backend.ts";
import type { UserCaller } from "../../http/caller.ts";
import { Problem } from "../../http/problem.ts";
import type { TaskDocument } from "../../read-model/core/views/documents.ts";
import { tokenKeyOf } from "../../streams.ts";
import type { TaskPagesDeps } from "../../task-pages/task-pages.ts";
import { requireOpens, usableTask } from "./access.ts";

/**
 * Returns what the port of an address stands for. 0 is the task's own page, or else the first declared HTTP port.
 * Throws a Problem if there is none, or if the task has ended.
 */
export function servedTarget(task: TaskDocument, port: number): Target {
  const { id, ports, hasPage } = task;
  refuseEnded(task);
  if (port === 0 && hasPage) return { kind: "page" };
  const declared = ports.filter(({ isTcp }) => !isTcp).map((one) => one.port);
  const served = port === 0 ? declared[0] : declared.find((one) => one === port);
  if (served !== undefined) return { kind: "port", port: served };
  const detail =
    port === 0
      ? `${id} serves no page: name its port in environment.proxy_ports`
      : `${port} is none of the HTTP ports that ${id} declares in environment.proxy_ports`;
  throw new Problem(404, "port_not_declared", detail);
}

/** Throws a Problem of 410 for a task that has ended. */
export function refuseEnded({ id, endedAtMs, reason }: TaskDocument): void {
  if (endedAtMs === undefined) return;
  throw new Problem(410, "task_ended", `${id} has ended: ${reason}`);
}

/** Returns what finds the runs behind the pages of tasks, and whether a person may still open a task. */
export const openedTasks = (backend: Backend, keys: ReadonlyMap<string, KeyObject>) => ({
  serving: servingRuns(backend, keys),
  mayOpen: (task: string, caller: UserCaller) => requireOpens(backend, task, caller),
});

function servingRuns(
  backend: Backend,
  keys: ReadonlyMap<string, KeyObject>,
): TaskPagesDeps["serving"] {
  return async ({ task: id, port: asked }, caller) => {
    const task = await usableTask(backend, id, caller);
    await requireOpens(backend, id, caller);
    const target = servedTarget(task, asked);
    const run = task.runs.at(-1);
    if (run === undefined || task.state !== "RUNNING") throw notRunning(task);
    const { state: keyId } = await backend.parts.executor.cache.load(tokenKeyOf, run.id);
    const key = keys.get(keyId);
    // Only during a change of the keys that the operator has not finished.
    if (key === undefined) throw notRunning(task);
    return { allocation: run.id, target, secret: taskSecret(key, run.id) };
  };
}

export function notRunning({ id, state, reason }: TaskDocument): Problem {
  const why = reason === "" ? "" : `: ${reason}`;
  return new Problem(503, "task_not_running", `${id} is ${state.toLowerCase()}${why}`);
}
