/** The fold as text, to start a term from. Disposable: whatever cannot be read is folded from the log again. */
import type { EventData } from "@trainyard/contracts";
import { Cluster } from "./cluster.ts";
import type { SavedJob } from "./jobs.ts";
import type { Agent, Allocation } from "./state.ts";

/** Raised when what the fold keeps changes its shape: older texts are then ignored. */
export const snapshotSchema = "cluster/4";

type Snapshot = {
  readonly position: number;
  readonly timeMs: number;
  readonly epochOffset: number;
  readonly pools: readonly (readonly [string, EventData<"PoolConfigured">])[];
  readonly jobs: readonly SavedJob[];
  readonly agents: readonly Agent[];
  readonly allocations: readonly Allocation[];
};

export function writeSnapshot(cluster: Cluster): string {
  const snapshot: Snapshot = {
    position: cluster.position,
    timeMs: cluster.timeMs,
    epochOffset: cluster.epochOffset,
    pools: [...cluster.configured],
    jobs: cluster.jobs.all(),
    agents: [...cluster.agents.values()],
    allocations: [...cluster.allocations.values()],
  };
  return JSON.stringify(snapshot);
}

/** A cluster as it was; an empty one at position 0 where the text is none of this schema. */
export function readSnapshot(text: string | null): Cluster {
  const cluster = new Cluster();
  if (text === null) return cluster;
  const { position, timeMs, epochOffset, pools, jobs, agents, allocations } = JSON.parse(
    text,
  ) as Snapshot;
  for (const [pool, configured] of pools) cluster.setConfigured(pool, configured);
  for (const job of jobs) cluster.setJob(job);
  for (const agent of agents) cluster.setAgent(agent);
  const byArrival = [...allocations].sort((a, b) => a.arrival - b.arrival);
  for (const allocation of byArrival) cluster.setAllocation(allocation);
  cluster.passed({ position, timeMs });
  cluster.epochOffset = epochOffset;
  return cluster;
}
