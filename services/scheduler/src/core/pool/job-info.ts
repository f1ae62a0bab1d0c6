/** The jobs (experiments and tasks) with runs in a pool, in the order of its queue. */
import type { Plain } from "@trainyard/contracts";
import type { JobInfo } from "@trainyard/contracts/commands";
import { type Demand, placeOf } from "@trainyard/scheduling";
import type { Cluster } from "../cluster/cluster.ts";
import type { Allocation } from "../cluster/state.ts";
import { slotsHeld } from "./pool-info.ts";

/** An empty name means all pools, one after the other. Jobs without a waiting run are last. */
export function jobsOf(cluster: Cluster, pool: string): readonly Plain<JobInfo>[] {
  const jobs = new Map<string, Run[]>();
  for (const allocation of cluster.allocations.values()) {
    if (pool !== "" && allocation.resources.pool !== pool) continue;
    const key = JSON.stringify([allocation.resources.pool, allocation.job]);
    const runs = jobs.get(key) ?? [];
    jobs.set(key, runs);
    runs.push({ allocation, demand: cluster.demand(allocation) });
  }
  const ordered = [...jobs.values()].map((runs) => runs.toSorted(inQueue)).toSorted(byFirstRun);
  const ahead = new Map<string, number>();
  return ordered.flatMap((runs) => {
    const [first] = runs;
    if (first === undefined) return [];
    const info = jobInfo(runs, first, ahead.get(first.allocation.resources.pool) ?? 0);
    if (info.runsWaiting > 0) ahead.set(info.pool, info.jobsAhead + 1);
    return [info];
  });
}

type Run = { readonly allocation: Allocation; readonly demand: Demand };

/** Orders waiting runs first, then by priority, then by their place. */
function inQueue(a: Run, b: Run): number {
  return (
    Number(a.allocation.grant !== null) - Number(b.allocation.grant !== null) ||
    a.demand.priority - b.demand.priority ||
    placeOf(a.demand) - placeOf(b.demand) ||
    a.demand.arrival - b.demand.arrival
  );
}

function byFirstRun([a]: readonly Run[], [b]: readonly Run[]): number {
  if (a === undefined || b === undefined) return 0;
  const [one, other] = [a.allocation.resources.pool, b.allocation.resources.pool];
  if (one !== other) return one < other ? -1 : 1;
  return inQueue(a, b);
}

function jobInfo(runs: readonly Run[], { allocation, demand }: Run, ahead: number): Plain<JobInfo> {
  const { job, workspace, owner, resources } = allocation;
  const placed = runs.filter((run) => run.allocation.grant !== null);
  const waiting = runs.filter((run) => run.allocation.grant === null);
  const sum = (of: readonly Run[], slots: (one: Allocation) => number): number =>
    of.reduce((total, run) => total + slots(run.allocation), 0);
  return {
    job,
    pool: resources.pool,
    workspace,
    owner,
    priority: demand.priority,
    weight: demand.weight,
    maxSlots: demand.maxSlots ?? 0,
    runsWaiting: waiting.length,
    runsPlaced: placed.length,
    slotsHeld: sum(placed, slotsHeld),
    slotsWanted: sum(waiting, (one) => one.resources.slots),
    slotsBorrowed: sum(placed, ({ grant }) => grant?.borrowed ?? 0),
    jobsAhead: waiting.length > 0 ? ahead : 0,
  };
}
