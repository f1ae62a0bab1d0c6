/** The call that opens a page of a task in a browser. */
import { taskId } from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import type { GatewayConfig } from "../../config.ts";
import { tokenOf } from "../../http/caller.ts";
import { Problem } from "../../http/problem.ts";
import type { SomeHandlers } from "../../http/request-context.ts";
import { ownPath } from "../../task-pages/html.ts";
import { hostOfTask } from "../../task-pages/task-host.ts";
import type { TaskSessions } from "../../task-pages/task-sessions.ts";
import { servedTarget } from "./serving.ts";
import { requireOpens, usableTask } from "./access.ts";

export function taskSessionHandlers(
  backend: Backend,
  taskSessions: TaskSessions,
  taskDomain: GatewayConfig["taskDomain"],
) {
  return {
    unary: {
      createTaskSession: async ({ task: id, port, localPort }, { caller, origin }) => {
        const task = await usableTask(backend, id, caller);
        await requireOpens(backend, id, caller);
        servedTarget(task, port);
        const { protocol, host } = placeOf(origin, localPort, taskDomain, id);
        const domain = localPort === 0 ? taskDomain : null;
        const place = { task: taskId(id.slice(1)), port };
        const session = caller.kind === "user" ? (caller.session?.digest ?? null) : null;
        const { code, expiresAtMs } = await taskSessions.newCode(place, {
          token: tokenOf(caller),
          session,
        });
        const url = `${protocol}//${hostOfTask(place, host, domain)}${ownPath}open#code=${code}`;
        return { url, expiresAtMs };
      },
    },
  } satisfies SomeHandlers;
}

/** Returns the scheme and the host from which the address of the page is made. */
function placeOf(origin: string, localPort: number, domain: string | null, id: string): URL {
  if (localPort !== 0) return new URL(`http://127.0.0.1:${localPort}`);
  const reached = URL.canParse(origin) ? new URL(origin) : null;
  if (reached !== null && (domain !== null || isThisMachine(reached.hostname))) return reached;
  const detail = `this cluster has no domain for the pages of tasks: "yard task open ${id}" opens the page from your machine`;
  throw new Problem(409, "no_task_domain", detail);
}

function isThisMachine(name: string): boolean {
  return name === "localhost" || name === "[::1]" || /^127(\.[0-9]{1,3}){3}$/.test(name);
}
