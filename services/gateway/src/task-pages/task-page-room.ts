/** The pages of tasks, with the sessions of their browsers. */
import type { Clock } from "@trainyard/kernel";
import type { Logger } from "@trainyard/runtime";
import type { Pool } from "pg";
import type { TokenLookup } from "../http/caller.ts";
import { TaskCallers, type TaskCallersDeps } from "./task-callers.ts";
import { TaskPages, type TaskPagesDeps } from "./task-pages.ts";
import { TaskSessions } from "./task-sessions.ts";
import type { OpenTunnel } from "./tunnel-agent.ts";

export type TaskPageRoomDeps = {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly serving: TaskPagesDeps["serving"];
  readonly token: TokenLookup;
  readonly requireEnabled: TaskCallersDeps["requireEnabled"];
  readonly mayOpen: TaskCallersDeps["mayOpen"];
  readonly tunnels: { readonly open: OpenTunnel };
  readonly openStreams: TaskPagesDeps["openStreams"];
  readonly unread: TaskPagesDeps["unread"];
  readonly proxies: TaskPagesDeps["proxies"];
};

export type TaskPageRoom = {
  readonly taskSessions: TaskSessions;
  /** Looks at the sessions of open requests until it is stopped. */
  readonly callers: TaskCallers;
  readonly taskPages: TaskPages;
};

export function taskPageRoom(deps: TaskPageRoomDeps): TaskPageRoom {
  const { pool, clock, logger, serving, tunnels, openStreams, unread, proxies } = deps;
  const open: OpenTunnel = (...stream) => tunnels.open(...stream);
  const sessions = new TaskSessions(pool);
  const callers = new TaskCallers({ ...deps, sessions });
  return {
    taskSessions: sessions,
    callers,
    taskPages: new TaskPages({
      sessions,
      callers,
      serving,
      open,
      openStreams,
      unread,
      proxies,
      clock,
      logger,
    }),
  };
}
