/** Why the runs of an experiment wait, computed when somebody asks. */
import type { Plain } from "@trainyard/contracts";
import type { JobExplanation, RunExplanation } from "@trainyard/contracts/commands";
import { explainWaits } from "@trainyard/scheduling";
import type { Cluster } from "../cluster/cluster.ts";
import type { Allocation } from "../cluster/state.ts";
import { jobsOf } from "./job-info.ts";
import { runsOf } from "./pool-info.ts";

/** Null if no run of it waits or has a place. */
export function explainJob(cluster: Cluster, job: string): Plain<JobExplanation> | null {
  const runs = [...cluster.allocations.values()].filter((allocation) => allocation.job === job);
  const pool = runs[0]?.resources.pool;
  if (pool === undefined) return null;
  const info = jobsOf(cluster, pool).find((one) => one.job === job);
  if (info === undefined) return null;
  return { job: info, runs: runs.map((allocation) => explainRun(cluster, allocation)) };
}

function explainRun(cluster: Cluster, allocation: Allocation): Plain<RunExplanation> {
  const { id, resources, grant, queuedAtMs } = allocation;
  const { priority, weight, maxSlots } = cluster.demand(allocation);
  const { maxSlots: _recorded, ...asked } = resources;
  const changed = { ...asked, priority, weight, ...(maxSlots === null ? {} : { maxSlots }) };
  const run = { run: id, resources: changed, queuedAtMs };
  const nothing = { reason: "", detail: "", limit: "", ahead: 0, blockers: [], startsWhen: "" };
  if (grant !== null) return { ...run, ...nothing, placements: grant.placements };
  return { ...run, ...nothing, placements: [], ...reasonOf(cluster, allocation) };
}

function reasonOf(
  cluster: Cluster,
  allocation: Allocation,
): Pick<RunExplanation, "reason" | "detail" | "ahead"> {
  const { id, resources } = allocation;
  const ahead = aheadOf(cluster, allocation);
  if (!cluster.configured.has(resources.pool)) {
    const detail = `the pool ${resources.pool} does not exist: it starts when the pool is created and has an agent`;
    return { reason: "no_agents", detail, ahead };
  }
  if (cluster.delayed.has(id)) {
    const detail = "its launches failed, and it waits before the next attempt";
    return { reason: "delayed", detail, ahead };
  }
  const pool = cluster.pool(resources.pool);
  const wait = explainWaits(pool, pool.queue.size).find((one) => one.id === id);
  return { reason: wait?.reason ?? "", detail: wait?.detail ?? "", ahead };
}

function aheadOf(cluster: Cluster, allocation: Allocation): number {
  const own = cluster.demand(allocation);
  const waiting = runsOf(cluster, allocation.resources.pool).filter(({ grant }) => grant === null);
  return waiting
    .map((other) => cluster.demand(other))
    .filter(({ priority, arrival }) => {
      return priority < own.priority || (priority === own.priority && arrival < own.arrival);
    }).length;
}
