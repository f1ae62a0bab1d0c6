/** Why the runs of an experiment wait, computed when somebody asks. */
import type { Plain } from "@trainyard/contracts";
import type { JobExplanation, RunExplanation } from "@trainyard/contracts/commands";
import { explainOne } from "@trainyard/scheduling";
import type { Cluster } from "../cluster/cluster.ts";
import type { Allocation } from "../cluster/state.ts";
import { jobsOf } from "./job-info.ts";

/** Null if no run of it waits or has a place. */
/** `nowMs` is on the clock of events. */
export function explainJob(
  cluster: Cluster,
  job: string,
  nowMs: number = cluster.timeMs,
): Plain<JobExplanation> | null {
  const runs = [...cluster.allocations.values()].filter((allocation) => allocation.job === job);
  const pool = runs[0]?.resources.pool;
  if (pool === undefined) return null;
  const info = jobsOf(cluster, pool).find((one) => one.job === job);
  if (info === undefined) return null;
  return { job: info, runs: runs.map((allocation) => explainRun(cluster, allocation, nowMs)) };
}

function explainRun(
  cluster: Cluster,
  allocation: Allocation,
  nowMs: number,
): Plain<RunExplanation> {
  const { id, resources, grant, queuedAtMs } = allocation;
  const { priority, weight, maxSlots } = cluster.demand(allocation);
  const { maxSlots: _recorded, ...asked } = resources;
  const changed = { ...asked, priority, weight, ...(maxSlots === null ? {} : { maxSlots }) };
  const run = { run: id, resources: changed, queuedAtMs };
  const nothing = { reason: "", detail: "", limit: "", ahead: 0, blockers: [], startsWhen: "" };
  if (grant !== null) return { ...run, ...nothing, placements: grant.placements };
  return { ...run, ...nothing, placements: [], ...reasonOf(cluster, allocation, nowMs) };
}

function reasonOf(
  cluster: Cluster,
  { id, resources }: Allocation,
  nowMs: number,
): Partial<Plain<RunExplanation>> {
  if (!cluster.configured.has(resources.pool)) {
    const detail = `the pool ${resources.pool} does not exist: it starts when the pool is created and has an agent`;
    return { reason: "no_agents", detail };
  }
  if (cluster.delayed.has(id)) {
    const detail = "its launches failed, and it waits before the next attempt";
    return { reason: "delayed", detail };
  }
  const explained = explainOne(cluster.pool(resources.pool), id, nowMs);
  return explained === null ? {} : { ...explained, limit: explained.limit ?? "" };
}
