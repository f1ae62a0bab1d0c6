/**
 * The tunnel of one run: a WebSocket to the gateway, over which people reach the run. It is open from the start of the
 * run's processes to their end, if there is something to reach: a task's holder, or declared ports. Only the first node
 * of a run has one.
 *
 * After a lost link the agent dials again. It waits a random time first, because a gateway that stops cuts the links of
 * all agents at once.
 */
import { type Clock, isFault, pause } from "@trainyard/kernel";
import { dialWebSocket, serveTunnel, type TunnelEnd, tunnelLink } from "@trainyard/tunnel";
import { limits } from "../limits.ts";
import type { RunFolder } from "../state/run-folder.ts";
import type { Telemetry } from "../telemetry.ts";
import { type TargetDeps, Targets } from "./targets.ts";

export type RunTunnelDeps = {
  readonly folder: Pick<RunFolder, "launch" | "process" | "runDir">;
  readonly apiUrl: string;
  readonly clock: Clock;
  readonly events: Pick<Telemetry, "tunnelAway" | "tunnelOpen">;
} & Omit<TargetDeps, "folder">;

/** Keeps the tunnel of a run open until it is disposed of. A run without a target gets none. */
export function openRunTunnel(deps: RunTunnelDeps): Disposable {
  const stop = new AbortController();
  const { launch } = deps.folder;
  const hasTarget = launch.task !== undefined || launch.proxyPorts.length > 0;
  if (hasTarget && launch.nodeRank === 0) void keepOpen(deps, stop.signal);
  return { [Symbol.dispose]: () => stop.abort() };
}

async function keepOpen(deps: RunTunnelDeps, signal: AbortSignal): Promise<void> {
  const { folder, clock, events } = deps;
  const { allocation } = folder.launch;
  while (folder.process === null && !signal.aborted) await pause(clock, limits.lookMs, signal);
  using targets = new Targets(deps);
  let again = false;
  while (!signal.aborted) {
    try {
      const end = await dial(deps, targets, signal);
      events.tunnelOpen(allocation);
      again = false;
      await end.closed;
    } catch (error) {
      if (signal.aborted) return;
      events.tunnelAway(allocation, error, again);
      again = true;
      // A refusal of the token stays as it is, except after a mistake in the settings of a gateway.
      const isFinal = isFault(error) && error.retry === "never";
      if (isFinal) await pause(clock, limits.tunnelRefusedMs, signal);
    }
    const { firstMs, lastMs } = limits.tunnelRedial;
    await pause(clock, firstMs + Math.random() * (lastMs - firstMs), signal);
  }
}

/** Returns the end of the tunnel once it is open. */
async function dial(
  { folder, apiUrl, clock }: RunTunnelDeps,
  targets: Targets,
  signal: AbortSignal,
): Promise<TunnelEnd> {
  const { allocation, token } = folder.launch;
  const address = `${apiUrl.replace(/\/+$/, "")}/api/v1/runs/${encodeURIComponent(allocation)}/tunnel`;
  const headers = { authorization: `Bearer ${token}` };
  const link = await dialWebSocket(address, { ...tunnelLink, clock, headers, signal });
  const end = serveTunnel(link, (name) => targets.open(name));
  signal.addEventListener("abort", end.close);
  void end.closed.then(() => signal.removeEventListener("abort", end.close));
  return end;
}
