/** Whether a run could ever be placed, by all agents that ever joined its pool. */
import type { Plain } from "@trainyard/contracts";
import type { PlaceCheck } from "@trainyard/contracts/commands";
import type { Resources } from "@trainyard/contracts/events";
import type { Cluster } from "../cluster/cluster.ts";

/** A pool without agents may still fill, and so may one that starts its agents itself. */
export function checkPlace(cluster: Cluster, resources: Plain<Resources>): Plain<PlaceCheck> {
  const { pool, slots, singleAgent } = resources;
  const agents = cluster.pools.get(pool)?.agents;
  const scaling = cluster.configured.get(pool)?.settings?.autoscaling;
  if (agents === undefined || cluster.members.of(pool).size === 0) return possible;
  const { agentsMax = 0, slotsPerAgent = 0 } = scaling ?? {};
  const onOne = Math.max(agents.largest, agentsMax > 0 ? slotsPerAgent : 0);
  const together = Math.max(agents.known.slots, agentsMax * slotsPerAgent);
  if (slots > together) {
    const detail = `it needs ${slots} slots, and all agents of the pool ${pool} have ${together} together: at most ${together} would fit`;
    return { possible: false, detail };
  }
  if (singleAgent && slots > onOne) {
    const detail = `it needs ${slots} slots on one agent, and the largest agent of the pool ${pool} has ${onOne}: at most ${onOne} would fit`;
    return { possible: false, detail };
  }
  return possible;
}

const possible: Plain<PlaceCheck> = { possible: true, detail: "" };
