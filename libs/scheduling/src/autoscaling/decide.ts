/**
 * Decides which machines to start and which to terminate, from the number of new agents that the queue needs. A driver
 * carries the decisions out.
 *
 * Stopped machines are terminated, then machines whose agent is disconnected for too long, then machines that are idle
 * for too long while more than the minimum remain. If more than the maximum remain, machines are terminated in this
 * order: spot requests without a machine, idle agents, disconnected agents, the newest machines. The newest may have
 * runs: the driver drains them first.
 */
import type { Instance, Judgement } from "./instances.ts";

export type FleetLimits = { readonly agentsMin: number; readonly agentsMax: number };

export type Ending = {
  readonly id: string;
  readonly reason: "stopped" | "disconnected" | "idle" | "above_max";
};

export function instancesToEnd(
  instances: readonly Instance[],
  { stopped, longIdle, longDisconnected, marks }: Judgement,
  { agentsMin, agentsMax }: FleetLimits,
): readonly Ending[] {
  const endings = new Map<string, Ending>();
  const end = (ids: Iterable<string>, reason: Ending["reason"], keep: number): void => {
    for (const id of ids) {
      if (instances.length - endings.size <= keep) return;
      if (!endings.has(id)) endings.set(id, { id, reason });
    }
  };
  end(stopped, "stopped", 0);
  end(longDisconnected, "disconnected", 0);
  end(oldestFirst(longIdle, marks.idleSinceMs), "idle", agentsMin);

  const newestFirst = [...instances].sort((a, b) => b.launchedAtMs - a.launchedAtMs);
  const newest = (wanted: (instance: Instance) => boolean): readonly string[] =>
    newestFirst.filter(wanted).map(({ id }) => id);
  end(
    newest(({ state }) => state === "pending"),
    "above_max",
    agentsMax,
  );
  end(
    newest(({ id }) => marks.idleSinceMs.has(id)),
    "above_max",
    agentsMax,
  );
  end(
    newest(({ id }) => marks.disconnectedSinceMs.has(id)),
    "above_max",
    agentsMax,
  );
  end(
    newest(() => true),
    "above_max",
    agentsMax,
  );
  return [...endings.values()];
}

function oldestFirst(
  ids: readonly string[],
  sinceMs: ReadonlyMap<string, number>,
): readonly string[] {
  return [...ids].sort((a, b) => (sinceMs.get(a) ?? 0) - (sinceMs.get(b) ?? 0));
}

/**
 * `instances` counts the instances that stay, `starting` ones included; starting ones reduce the number of launches.
 */
export function agentsToLaunch(
  { agentsMin, agentsMax }: FleetLimits,
  counts: { readonly instances: number; readonly starting: number; readonly wanted: number },
): number {
  const least = agentsMin - counts.instances;
  const most = agentsMax - counts.instances;
  return Math.max(0, Math.min(most, Math.max(least, counts.wanted - counts.starting)));
}
