/** The streams of people to what a task or a trial serves: raw bytes over a WebSocket (libs/tunnel). */
import type { Duplex } from "node:stream";
import { parseTrialId, runId, taskRunId, isTaskId } from "@trainyard/kernel";
import type { FoldCache } from "@trainyard/runtime";
import { parseTarget, splice, type Target, type WebSocket } from "@trainyard/tunnel";
import type { Backend } from "../../backend.ts";
import { type Caller, countedAs, type UserCaller } from "../../http/caller.ts";
import type { OpenCalls } from "../../http/open-calls.ts";
import type { OpenChecks } from "../../http/open-checks.ts";
import { notFound, Problem } from "../../http/problem.ts";
import type { Upgrade, UpgradeRoute } from "../../http/upgrades.ts";
import type { OpenStreams } from "../../http/open-streams.ts";
import { tunnelRoomLimits } from "../../tunnels/limits.ts";
import { latestRunOfTask, latestRunOfTrial } from "../../streams.ts";
import { problemOfTunnel } from "../../tunnels/problem.ts";
import type { Tunnels } from "../../tunnels/tunnels.ts";
import type { UnreadStreams } from "../../tunnels/unread-streams.ts";
import { requireOpens, requireOpensTrial } from "../tasks/access.ts";

export type StreamsDeps = {
  readonly tunnels: Tunnels;
  /** Serves HTTP on a connection, as on one that a browser opened. */
  readonly serveConnection: (connection: Duplex) => void;
  readonly openStreams: OpenStreams;
  readonly openCalls: OpenCalls;
  readonly checks: Pick<OpenChecks, "begin">;
  readonly backend: Backend;
  readonly unread: UnreadStreams;
  readonly cache: FoldCache;
};

export function streamRoutes(deps: StreamsDeps): readonly UpgradeRoute[] {
  const { openStreams: open } = deps;
  return [
    {
      // A program on a person's machine passes the connections of its browser on, to the host of a task.
      name: "page-stream",
      path: /^\/api\/v1\/tasks\/([^/]+)\/streams\/page$/,
      async serve({ parameters: [id = ""], caller: ask, gone, accept }) {
        const caller = userOf(await ask());
        if (!isTaskId(id)) throw notFound("task", id);
        const mayOpen = () => requireOpens(deps.backend, id, caller);
        await mayOpen();
        using held = new DisposableStack();
        held.use(open.open(countedAs(caller)));
        const call = held.use(await deps.openCalls.open(caller));
        const { refused } = held.use(deps.checks.begin(mayOpen));
        const signal = AbortSignal.any([gone, call.signal, refused]);
        const kept = held.move();
        accept({ deadLooks: tunnelRoomLimits.streamDeadLooks }, (connection, webSocket) => {
          watchNear(deps, connection, webSocket);
          connection.once("close", () => kept.dispose());
          signal.addEventListener("abort", () => connection.destroy());
          deps.serveConnection(connection);
        });
      },
    },
    {
      name: "task-stream",
      path: /^\/api\/v1\/tasks\/([^/]+)\/streams\/([^/]+)$/,
      async serve(upgrade) {
        const { id, caller, target } = await asked(upgrade);
        if (!isTaskId(id)) throw notFound("task", id);
        const mayOpen = () => requireOpens(deps.backend, id, caller);
        await mayOpen();
        const run = (await deps.cache.load(latestRunOfTask, id)).state;
        if (run === null) throw notFound("task", id);
        if (run === 0) throw noRun(`task ${id}`);
        const opening = { caller, mayOpen, allocation: taskRunId(id, run), target };
        await serve(deps, opening, upgrade);
      },
    },
    {
      name: "trial-stream",
      path: /^\/api\/v1\/trials\/([^/]+)\/streams\/([^/]+)$/,
      async serve(upgrade) {
        const { id, caller, target } = await asked(upgrade);
        if (parseTrialId(id) === null) throw notFound("trial", id);
        const mayOpen = () => requireOpensTrial(deps.backend, id, caller);
        await mayOpen();
        const run = (await deps.cache.load(latestRunOfTrial, id)).state;
        if (run === null) throw notFound("trial", id);
        if (run === 0) throw noRun(`trial ${id}`);
        if (target.kind === "holder") throw noTarget("terminal");
        await serve(deps, { caller, mayOpen, allocation: runId(id, run), target }, upgrade);
      },
    },
  ];
}

type Asked = { readonly id: string; readonly caller: UserCaller; readonly target: Target };

function userOf(caller: Caller): UserCaller {
  if (caller.kind === "user") return caller;
  throw new Problem(403, "not_for_runs", "a run's token does not allow this call");
}

async function asked({ parameters: [id = "", name = ""], caller }: Upgrade): Promise<Asked> {
  const known = userOf(await caller());
  const target = name === "terminal" ? parseTarget("holder") : parseTarget(`port-${name}`);
  if (target === null) throw noTarget(name);
  return { id, caller: known, target };
}

type Opening = {
  readonly caller: UserCaller;
  /** Throws a Problem if the caller may not open the stream, or not any more. */
  readonly mayOpen: () => Promise<void>;
  readonly allocation: string;
  readonly target: Target;
};

async function serve(
  { tunnels, openStreams, openCalls, checks, unread }: StreamsDeps,
  { caller, mayOpen, allocation, target }: Opening,
  { accept, gone }: Upgrade,
): Promise<void> {
  using held = new DisposableStack();
  held.use(openStreams.open(countedAs(caller)));
  const call = held.use(await openCalls.open(caller));
  const { refused } = held.use(checks.begin(mayOpen));
  const signal = AbortSignal.any([gone, call.signal, refused]);
  const far = await tunnels.open(allocation, target, signal).catch((error: unknown) => {
    throw problemOfTunnel(error);
  });
  // A client that left while the stream was opened gets no answer.
  signal.addEventListener("abort", () => far.destroy());
  if (signal.aborted || far.destroyed) return void far.destroy();
  const kept = held.move();
  far.once("close", () => kept.dispose());
  accept({ deadLooks: tunnelRoomLimits.streamDeadLooks }, (near, webSocket) => {
    watchNear({ unread }, near, webSocket);
    signal.addEventListener("abort", () => near.destroy());
    void splice(near, far);
  });
}

/** Some of the bytes that the stream has not handed over count as bytes of the WebSocket, too. */
function watchNear({ unread }: Pick<StreamsDeps, "unread">, near: Duplex, socket: WebSocket): void {
  unread.watch(
    near,
    () => near.readableLength + Math.max(near.writableLength, socket.bufferedAmount),
  );
}

const noTarget = (name: string): Problem =>
  new Problem(404, "no_such_stream", `"${name}" is neither "terminal" of a task nor a port`);

const noRun = (what: string): Problem =>
  new Problem(503, "not_connected", `${what} has no run yet; try again`);
