/** The effect of a pool's event on the cluster. */
import type { EventData } from "@trainyard/contracts";
import { defaultSettings, settingsOf } from "@trainyard/scheduling";
import type { Cluster } from "./cluster.ts";
import type { SavedJob } from "./jobs.ts";

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
  for (const job of cluster.jobs.forgetPool(name)) pool.forgetJob(job);
  if (pool.queue.size === 0 && cluster.members.of(name).size === 0) cluster.pools.delete(name);
  else pool.configure(defaultSettings);
}

/** Changes waiting, placed and future runs. */
export function changeJob(cluster: Cluster, saved: SavedJob): void {
  const { place, ...update } = saved.change;
  cluster.jobs.set(saved);
  const pool = cluster.pool(saved.pool);
  if (Object.keys(update).length > 0) pool.updateJob(saved.job, update);
  if (place !== undefined) pool.moveJob(saved.job, place);
  cluster.touchedPools.add(saved.pool);
}
