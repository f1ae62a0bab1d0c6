/**
 * Where a demand goes, all or nothing. In this order:
 *
 * 1. One agent: of those with enough free slots, the one that keeps the fewest free (best fit), so that large agents
 *    stay whole for large runs. A run of no slots goes to the agent with the fewest of its kind.
 * 2. Equal shares of whole agents of one size, the largest size that divides the demand: what distributed training
 *    likes best.
 * 3. Unequal shares: the agents with the most free slots, and for the last share the tightest one that holds it.
 *
 * Steps 1 and 2 are Determined's shared and dedicated fit; step 3 is wider than its heterogeneous fit, which misses
 * splits that exist (12 slots over agents of 8, 6 and 4).
 *
 * Agents that a demand avoids are left out of all this while the others, were they empty, could take it.
 */
import type { PoolAgents } from "./agents.ts";
import type { Demand, Share } from "./demand.ts";
import { schedulingLimits } from "./limits.ts";

type Shape = Pick<Demand, "slots" | "singleAgent" | "avoid">;

/** The shares in node rank order; null when it does not fit now. */
export function fit(agents: PoolAgents, demand: Shape): readonly Share[] | null {
  const { avoid = [] } = demand;
  if (avoid.length === 0) return fitAnywhere(agents, demand);
  const elsewhere = agents.without(avoid, () => {
    return { shares: fitAnywhere(agents, demand), isPossible: agents.couldHold(demand) };
  });
  // Where none of the others could ever take it, one that failed is better than none.
  if (elsewhere.shares !== null || elsewhere.isPossible) return elsewhere.shares;
  return fitAnywhere(agents, demand);
}

function fitAnywhere(agents: PoolAgents, demand: Shape): readonly Share[] | null {
  if (demand.slots === 0) return fitSlotless(agents);
  const one = agents.tightest(demand.slots);
  if (one !== undefined) return [share(agents, one, demand.slots)];
  if (demand.singleAgent || agents.freeSlots < demand.slots) return null;
  return fitEqual(agents, demand.slots) ?? fitUnequal(agents, demand.slots);
}

function fitSlotless(agents: PoolAgents): readonly Share[] | null {
  const agent = agents.leastSlotless(schedulingLimits.slotlessPerAgentMax);
  return agent === undefined ? null : [{ agent, slots: [] }];
}

function fitEqual(agents: PoolAgents, slots: number): readonly Share[] | null {
  for (const size of agents.wholeSizes()) {
    const nodes = slots / size;
    if (!Number.isInteger(nodes) || nodes > schedulingLimits.nodesPerAllocationMax) continue;
    if (agents.wholeCount(size) < nodes) continue;
    return agents.wholeOf(size, nodes).map((agent) => share(agents, agent, size));
  }
  return null;
}

function fitUnequal(agents: PoolAgents, slots: number): readonly Share[] | null {
  const shares: Share[] = [];
  const taken = new Set<string>();
  let missing = slots;
  for (const { id, free } of agents.byMostFree()) {
    if (free >= missing) {
      const last = tightestBesides(agents, missing, taken) ?? id;
      shares.push(share(agents, last, missing));
      return shares;
    }
    if (shares.length + 1 >= schedulingLimits.nodesPerAllocationMax) return null;
    shares.push(share(agents, id, free));
    taken.add(id);
    missing -= free;
  }
  return null;
}

/** The tightest agent for the last share; those that already have one hold less than what was missing then. */
function tightestBesides(
  agents: PoolAgents,
  slots: number,
  taken: ReadonlySet<string>,
): string | undefined {
  const candidate = agents.tightest(slots);
  return candidate !== undefined && !taken.has(candidate) ? candidate : undefined;
}

function share(agents: PoolAgents, agent: string, slots: number): Share {
  return { agent, slots: agents.freeOf(agent, slots) };
}
