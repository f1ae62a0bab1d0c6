/** The streams of people to what a task or a trial serves: raw bytes over a WebSocket (libs/tunnel). */
import { isFault, parseTrialId, runId, taskRunId, isTaskId } from "@trainyard/kernel";
import type { FoldCache } from "@trainyard/runtime";
import { parseTarget, splice, type Target } from "@trainyard/tunnel";
import { countedAs, type UserCaller } from "../../http/caller.ts";
import type { OpenCalls } from "../../http/open-calls.ts";
import { notFound, Problem } from "../../http/problem.ts";
import type { Upgrade, UpgradeRoute } from "../../http/upgrades.ts";
import { OpenStreams } from "../../live/open-streams.ts";
import { tunnelRoomLimits } from "../../tunnels/limits.ts";
import { latestRunOfTask, latestRunOfTrial } from "../../streams.ts";
import type { Tunnels } from "../../tunnels/tunnels.ts";
import { mayUseTask } from "../tasks/access.ts";

export type StreamsDeps = {
  readonly tunnels: Tunnels;
  readonly openCalls: OpenCalls;
  readonly cache: FoldCache;
};

export function streamRoutes(deps: StreamsDeps): readonly UpgradeRoute[] {
  const open = new OpenStreams({
    ofOneMax: tunnelRoomLimits.streamsOfOneMax,
    ofAllMax: tunnelRoomLimits.streamsMax,
    topicsOfOneMax: 0,
    topicsOfAllMax: 0,
  });
  return [
    {
      name: "task-stream",
      path: /^\/api\/v1\/tasks\/([^/]+)\/streams\/([^/]+)$/,
      async serve(upgrade) {
        const { id, caller, target } = await asked(upgrade);
        if (!isTaskId(id)) throw notFound("task", id);
        const refusal = mayUseTask(caller, { id });
        if (refusal !== null) throw refusal;
        const run = (await deps.cache.load(latestRunOfTask, id)).state;
        if (run === null) throw notFound("task", id);
        if (run === 0) throw noRun(`task ${id}`);
        await serve(deps, open, { caller, allocation: taskRunId(id, run), target }, upgrade);
      },
    },
    {
      name: "trial-stream",
      path: /^\/api\/v1\/trials\/([^/]+)\/streams\/([^/]+)$/,
      async serve(upgrade) {
        const { id, caller, target } = await asked(upgrade);
        if (parseTrialId(id) === null) throw notFound("trial", id);
        const run = (await deps.cache.load(latestRunOfTrial, id)).state;
        if (run === null) throw notFound("trial", id);
        if (run === 0) throw noRun(`trial ${id}`);
        if (target.kind === "holder") throw noTarget("terminal");
        await serve(deps, open, { caller, allocation: runId(id, run), target }, upgrade);
      },
    },
  ];
}

type Asked = { readonly id: string; readonly caller: UserCaller; readonly target: Target };

async function asked({ parameters: [id = "", name = ""], caller }: Upgrade): Promise<Asked> {
  const known = await caller();
  if (known.kind === "run") {
    throw new Problem(403, "not_for_runs", "a run's token does not allow this call");
  }
  const target = name === "terminal" ? parseTarget("holder") : parseTarget(`port-${name}`);
  if (target === null) throw noTarget(name);
  return { id, caller: known, target };
}

type Opening = {
  readonly caller: UserCaller;
  readonly allocation: string;
  readonly target: Target;
};

async function serve(
  { tunnels, openCalls }: StreamsDeps,
  open: OpenStreams,
  { caller, allocation, target }: Opening,
  { accept, gone }: Upgrade,
): Promise<void> {
  using held = new DisposableStack();
  held.use(open.open(countedAs(caller)));
  const call = held.use(await openCalls.open(caller));
  const signal = AbortSignal.any([gone, call.signal]);
  const far = await tunnels.open(allocation, target, signal).catch((error: unknown) => {
    throw problemOfTunnel(error);
  });
  // A client that left while the stream was opened gets no answer.
  signal.addEventListener("abort", () => far.destroy());
  if (signal.aborted || far.destroyed) return void far.destroy();
  const kept = held.move();
  far.once("close", () => kept.dispose());
  accept({ deadLooks: tunnelRoomLimits.streamDeadLooks }, (near) => {
    signal.addEventListener("abort", () => near.destroy());
    void splice(near, far);
  });
}

const statusOfFault: Readonly<Record<string, number>> = {
  undeclared_port: 403,
  too_many_streams: 429,
};

function problemOfTunnel(error: unknown): unknown {
  if (!isFault(error)) return error;
  const { code, message, retry } = error;
  const status = statusOfFault[code] ?? (retry === "never" ? 409 : 503);
  return new Problem(status, code, message);
}

const noTarget = (name: string): Problem =>
  new Problem(404, "no_such_stream", `"${name}" is neither "terminal" of a task nor a port`);

const noRun = (what: string): Problem =>
  new Problem(503, "not_connected", `${what} has no run yet; try again`);
