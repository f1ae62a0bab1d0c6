/**
 * The fold as text, from which a term starts. It is disposable: a snapshot that cannot be read is rebuilt from the log.
 */
import type { EventData } from "@trainyard/contracts";
import type { HeadReservation } from "@trainyard/scheduling";
import { Cluster } from "./cluster.ts";
import { changeJob, configurePool, type SavedJob } from "./pool-changes.ts";
import type { SavedPreemptions } from "./preemptions.ts";
import type { RecentFailure } from "./recent-failures.ts";
import type { Agent, Allocation } from "./state.ts";

/** Raised when the shape of the fold changes: older snapshots are then ignored. */
export const snapshotSchema = "cluster/7";

type Snapshot = {
  readonly position: number;
  readonly timeMs: number;
  readonly epochOffset: number;
  readonly pools: readonly (readonly [string, EventData<"PoolConfigured">])[];
  readonly jobs: readonly SavedJob[];
  readonly preemptions: SavedPreemptions;
  readonly agents: readonly Agent[];
  readonly allocations: readonly Allocation[];
  readonly reservations: readonly (readonly [string, HeadReservation])[];
  readonly recentFailures: readonly RecentFailure[];
  readonly didWell: readonly (readonly [string, readonly string[]])[];
};

export function writeSnapshot(cluster: Cluster): string {
  const snapshot: Snapshot = {
    position: cluster.position,
    timeMs: cluster.timeMs,
    epochOffset: cluster.epochOffset,
    pools: [...cluster.configured],
    jobs: [...cluster.pools].flatMap(([pool, { jobs }]) =>
      [...jobs].map(([job, change]) => ({ pool, job, change })),
    ),
    preemptions: cluster.preemptions.saved(),
    agents: [...cluster.agents.values()],
    allocations: [...cluster.allocations.values()],
    reservations: [...cluster.pools].flatMap(([name, { recorded }]) =>
      recorded === null ? [] : [[name, recorded] as const],
    ),
    recentFailures: cluster.trusts.recent,
    didWell: [...cluster.trusts.didWell],
  };
  return JSON.stringify(snapshot);
}

/** Restores a cluster; an empty one at position 0 if the text has another schema. */
export function readSnapshot(text: string | null): Cluster {
  const cluster = new Cluster();
  if (text === null) return cluster;
  const saved = JSON.parse(text) as Snapshot;
  const { position, timeMs, epochOffset, pools, jobs, agents, allocations, reservations } = saved;
  for (const [pool, configured] of pools) configurePool(cluster, pool, configured);
  for (const job of jobs) changeJob(cluster, job);
  cluster.preemptions.restore(saved.preemptions);
  for (const agent of agents) cluster.setAgent(agent);
  // Placed runs are ordered by their grants, as in the log.
  const placeOf = ({ grant, arrival }: Allocation): number => grant?.position ?? arrival;
  const inOrder = [...allocations].sort((a, b) => placeOf(a) - placeOf(b));
  for (const allocation of inOrder) cluster.setAllocation(allocation);
  for (const [pool, reserved] of reservations) cluster.pool(pool).record(reserved);
  cluster.passed({ position, timeMs });
  cluster.epochOffset = epochOffset;
  cluster.trusts.recent = saved.recentFailures;
  for (const [job, agents] of saved.didWell) cluster.trusts.noteDidWell(job, agents);
  return cluster;
}
