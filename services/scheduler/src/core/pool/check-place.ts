/** Checks whether a run could ever be placed on the agents that have joined its pool. */
import type { Plain } from "@trainyard/contracts";
import type { PlaceCheck } from "@trainyard/contracts/commands";
import type { Resources } from "@trainyard/contracts/events";
import { defaultPool, withoutAgents } from "@trainyard/experiment-config/recorded";
import { couldEverHold } from "@trainyard/scheduling";
import type { Cluster } from "../cluster/cluster.ts";

/**
 * A pool without agents may still get some, and so may a pool that starts its agents itself: these may have any labels
 * and devices.
 */
export function checkPlace(cluster: Cluster, resources: Plain<Resources>): Plain<PlaceCheck> {
  const { pool, slots, singleAgent } = resources;
  // A pool is configured by a user, or soon after its first agent has joined.
  const isThere = cluster.configured.has(pool) || cluster.members.of(pool).size > 0;
  if (!isThere && pool !== defaultPool) return noPool(cluster, pool);
  const agents = cluster.pools.get(pool)?.agents;
  if (agents === undefined) return possible;
  const { agentsMax = 0, slotsPerAgent = 0 } =
    cluster.configured.get(pool)?.settings?.autoscaling ?? {};
  const startable = singleAgent ? Math.min(agentsMax, 1) : agentsMax;
  if (agentsMax > 0 && slots <= startable * slotsPerAgent) return possible;
  return couldEverHold(agents, resources, pool);
}

/** Whether another agent of the pool than these could ever hold the run. */
export function hasOtherPlace(
  cluster: Cluster,
  resources: Plain<Resources>,
  agents: readonly string[],
): boolean {
  return checkPlace(cluster, withoutAgents(resources, agents)).possible;
}

function noPool(cluster: Cluster, pool: string): Plain<PlaceCheck> {
  const names = [...new Set([defaultPool, ...cluster.configured.keys()])].toSorted();
  const are = names.length === 1 ? "the only pool is" : "the pools are";
  const detail = `there is no pool ${pool}; ${are} ${names.join(", ")}`;
  return { possible: false, detail, key: "resource_pool" };
}

const possible: Plain<PlaceCheck> = { possible: true, detail: "", key: "" };
