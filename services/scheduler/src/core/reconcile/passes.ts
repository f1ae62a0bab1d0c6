/** The placement passes of changed pools: they decide which runs get a place, and which runs make room for others. */
import { StopMode, StopWhy } from "@trainyard/contracts/events";
import { type Pass, place } from "@trainyard/scheduling";
import type { Cluster } from "../cluster/cluster.ts";
import { preemptionTimeoutOf } from "../cluster/demand.ts";
import type { Decision } from "./decision.ts";
import type { Deadlines } from "./deadlines.ts";
import { grantCommand, portsTaken } from "./grants.ts";

type Passing = {
  readonly cluster: Cluster;
  readonly deadlines: Deadlines;
  readonly tokenKey: string;
  /** The present time of the monotonic clock. */
  readonly nowMs: number;
};

export function placementDecisions({
  cluster,
  deadlines,
  tokenKey,
  nowMs,
}: Passing): readonly Decision[] {
  for (const name of deadlines.takePasses(nowMs)) cluster.touchedPools.add(name);
  const passes = [...cluster.touchedPools].map((name) => {
    cluster.touchedPools.delete(name);
    cluster.unexplained.add(name);
    const pass = place(cluster.pool(name), { nowMs: deadlines.foldMs(nowMs) });
    deadlines.passAgain(name, pass.againAtMs, nowMs);
    return pass;
  });
  return [...grantsOf(cluster, passes, tokenKey), ...stopsOf(cluster, passes)];
}

function grantsOf(
  cluster: Cluster,
  passes: readonly Pass[],
  tokenKey: string,
): readonly Decision[] {
  const grants = passes.flatMap((pass) => pass.grants);
  if (grants.length === 0) return [];
  const taken = portsTaken(cluster);
  return grants.flatMap((grant): readonly Decision[] => {
    const allocation = cluster.allocations.get(grant.id);
    if (allocation === undefined) return [];
    const command = grantCommand(cluster, grant, tokenKey, taken);
    return [{ on: "allocation", id: grant.id, origin: allocation.origin, command }];
  });
}

/** Runs that make room write a checkpoint and end within their own preemption timeout. */
function stopsOf(cluster: Cluster, passes: readonly Pass[]): readonly Decision[] {
  return passes
    .flatMap((pass) => pass.stops)
    .flatMap(({ id, by }): readonly Decision[] => {
      const allocation = cluster.allocations.get(id);
      if (allocation === undefined) return [];
      const { origin, resources } = allocation;
      const graceMs = preemptionTimeoutOf(resources);
      const why = StopWhy.PREEMPTED;
      const command = { kind: "stop", mode: StopMode.GRACEFUL, why, graceMs, by } as const;
      return [{ on: "allocation", id, origin, command }];
    });
}

/** Stops runs that have reached their time limit. */
export function timeLimitDecisions({ cluster, deadlines, nowMs }: Passing): readonly Decision[] {
  return [...cluster.timed].flatMap((id): readonly Decision[] => {
    const allocation = cluster.allocations.get(id);
    if (allocation === undefined || !deadlines.hasReachedLimit(id, nowMs)) return [];
    const { origin, resources } = allocation;
    const graceMs = preemptionTimeoutOf(resources);
    const why = StopWhy.TIME_LIMIT;
    const command = { kind: "stop", mode: StopMode.GRACEFUL, why, graceMs } as const;
    return [{ on: "allocation", id, origin, command }];
  });
}
