/** The effect of a pool's event on the cluster. */
import type { EventData } from "@trainyard/contracts";
import { defaultSettings, type KnownJob, settingsOf } from "@trainyard/scheduling";
import type { Cluster } from "./cluster.ts";

export type SavedJob = { readonly pool: string; readonly job: string; readonly change: KnownJob };

export function configurePool(
  cluster: Cluster,
  name: string,
  configured: EventData<"PoolConfigured">,
): void {
  cluster.configured.set(name, configured);
  cluster.pool(name).configure(settingsOf(configured.policy, configured.settings));
  cluster.touchedPools.add(name);
}

/** Runs that are still requested in a removed pool wait. */
export function removePool(cluster: Cluster, name: string): void {
  cluster.configured.delete(name);
  const pool = cluster.pool(name);
  for (const job of [...pool.jobs.keys()]) pool.forgetJob(job);
  if (pool.queue.size === 0 && cluster.members.of(name).size === 0) cluster.pools.delete(name);
  else pool.configure(defaultSettings);
}

/** Changes waiting, placed and future runs. */
export function changeJob(cluster: Cluster, { pool, job, change }: SavedJob): void {
  cluster.pool(pool).updateJob(job, change);
  cluster.touchedPools.add(pool);
}

/**
 * The end of an experiment ends its place in the queue; its deletion also ends what people set. A task never continues,
 * so its end ends both.
 */
export function endJob(cluster: Cluster, job: string, isFinal: boolean): void {
  cluster.preemptions.forget(job);
  cluster.trusts.didWell.delete(job);
  for (const pool of cluster.pools.values()) {
    if (isFinal) pool.forgetJob(job);
    else pool.endJob(job);
  }
}
