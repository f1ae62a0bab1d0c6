/** The placement passes of changed pools: they decide which runs get a place, and which runs make room for others. */
import { StopMode, StopWhy } from "@trainyard/contracts/events";
import { place } from "@trainyard/scheduling";
import type { Cluster } from "../cluster/cluster.ts";
import { preemptionTimeoutOf } from "../cluster/demand.ts";
import type { Decision } from "./decision.ts";
import type { Deadlines } from "./deadlines.ts";
import { grantCommand, portsTaken } from "./grants.ts";
import type { Guard } from "./guard.ts";
import { limits } from "../../limits.ts";

type Passing = {
  readonly cluster: Cluster;
  readonly deadlines: Deadlines;
  readonly guard: Guard;
  readonly tokenKey: string;
  /** The present time of the monotonic clock. */
  readonly nowMs: number;
};

export function placementDecisions(passing: Passing): readonly Decision[] {
  const { cluster, deadlines, guard, nowMs } = passing;
  for (const name of deadlines.takePasses(nowMs)) cluster.touchedPools.add(name);
  const taken = once(() => portsTaken(cluster));
  return [...cluster.touchedPools].flatMap((name) => {
    cluster.touchedPools.delete(name);
    cluster.unexplained.add(name);
    const decisions = guard.attempt("placement", name, () => passOf(name, passing, taken));
    if (decisions !== null) return decisions;
    deadlines.passAgain(name, deadlines.foldMs(nowMs) + limits.setAsideMs, nowMs);
    return [];
  });
}

type Ports = ReturnType<typeof portsTaken>;

function passOf(
  name: string,
  { cluster, deadlines, tokenKey, nowMs }: Passing,
  taken: () => Ports,
) {
  const pass = place(cluster.pool(name), { nowMs: deadlines.foldMs(nowMs) });
  deadlines.passAgain(name, pass.againAtMs, nowMs);
  const grants = pass.grants.flatMap((grant): readonly Decision[] => {
    const allocation = cluster.allocations.get(grant.id);
    if (allocation === undefined) return [];
    const command = grantCommand(cluster, grant, tokenKey, taken());
    return [{ on: "allocation", id: grant.id, origin: allocation.origin, command }];
  });
  // Runs that make room write a checkpoint and end within their own preemption timeout.
  const stops = pass.stops.flatMap(({ id, by }): readonly Decision[] => {
    const allocation = cluster.allocations.get(id);
    if (allocation === undefined) return [];
    const { origin, resources } = allocation;
    const graceMs = preemptionTimeoutOf(resources);
    const why = StopWhy.PREEMPTED;
    const command = { kind: "stop", mode: StopMode.GRACEFUL, why, graceMs, by } as const;
    return [{ on: "allocation", id, origin, command }];
  });
  return [...grants, ...stops];
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null;
  return () => (made ??= { value: make() }).value;
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
