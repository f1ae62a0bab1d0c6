/** The removal of an agent from the fold. */
import { newHost } from "./agent-changes.ts";
import type { Cluster } from "./cluster.ts";
import { ghostHolder } from "./slots.ts";

/** The agent's slots become free; an agent that still runs something reports it when it joins again. */
export function removeAgent(cluster: Cluster, id: string): void {
  const agent = cluster.agents.get(id);
  if (agent === undefined) return;
  const { agents } = cluster.pool(agent.joined.pool);
  for (const ghost of Object.keys(agent.ghosts)) agents.release(id, ghostHolder(ghost));
  const host = { ...newHost, out: agent.out, slotsOut: agent.slotsOut };
  cluster.setAgent({ ...agent, ...host, status: "removed", refused: null, lostAtMs: null });
  forgetRemoved(cluster, id);
}

/** Forgets a removed agent when its last run has ended, unless users have taken it or its slots out of use. */
export function forgetRemoved(cluster: Cluster, id: string): void {
  const agent = cluster.agents.get(id);
  if (agent?.status !== "removed" || agent.out !== null) return;
  if (cluster.placedOn(id).size > 0 || Object.keys(agent.slotsOut).length > 0) return;
  cluster.touchedAgents.delete(id);
  cluster.pool(agent.joined.pool).agents.forget(id);
  cluster.agents.delete(id);
}
