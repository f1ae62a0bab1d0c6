/** The description of a pool: its settings with all defaults, and its content. */
import type { Plain } from "@trainyard/contracts";
import type { PoolInfo, QuotaUse } from "@trainyard/contracts/commands";
import type { Cluster } from "../cluster/cluster.ts";
import type { Allocation } from "../cluster/state.ts";
import { settingsOfPool, shownSettings, unconfigured } from "./configuration.ts";

/** The runs that wait or are placed in a pool. */
export function runsOf(cluster: Cluster, pool: string): readonly Allocation[] {
  return [...cluster.allocations.values()].filter(({ resources }) => resources.pool === pool);
}

export function slotsHeld({ grant }: Allocation): number {
  return (grant?.placements ?? []).reduce((sum, { slots }) => sum + slots.length, 0);
}

/** `setAside` says what is set aside in the pool. */
export function poolInfo(cluster: Cluster, pool: string, setAside: string): Plain<PoolInfo> {
  const configured = cluster.configured.get(pool) ?? unconfigured;
  const agents = [...cluster.members.of(pool)].flatMap((id) => cluster.agents.get(id) ?? []);
  const runs = runsOf(cluster, pool);
  const placed = runs.filter(({ grant }) => grant !== null);
  return {
    pool,
    policy: settingsOfPool(configured).policy,
    settings: shownSettings(configured),
    agentsKnown: agents.length,
    agentsPresent: agents.filter(({ status }) => status === "present").length,
    slots: agents.reduce((sum, { joined }) => sum + joined.slots.length, 0),
    slotsFree: cluster.pools.get(pool)?.agents.freeSlots ?? 0,
    runsWaiting: runs.length - placed.length,
    runsPlaced: placed.length,
    quotas: quotaUses(cluster, pool, placed),
    ...reserved(cluster, pool),
    setAside,
  };
}

function reserved(
  cluster: Cluster,
  name: string,
): Pick<Plain<PoolInfo>, "reservedFor" | "slotsReserved"> {
  const pool = cluster.pools.get(name);
  const kept = pool?.kept ?? null;
  if (kept === null || pool?.queue.has(kept.id) !== true) {
    return { reservedFor: "", slotsReserved: 0 };
  }
  const slotsReserved = kept.shares.reduce((sum, { slots }) => sum + slots.length, 0);
  return { reservedFor: kept.id, slotsReserved };
}

function quotaUses(
  cluster: Cluster,
  pool: string,
  placed: readonly Allocation[],
): readonly Plain<QuotaUse>[] {
  const { quotas } = settingsOfPool(cluster.configured.get(pool) ?? unconfigured);
  return quotas.map(({ workspace, slots }) => {
    const own = placed.filter((allocation) => allocation.workspace === workspace);
    const used = own.reduce((sum, allocation) => sum + slotsHeld(allocation), 0);
    return { workspace, slots, used, borrowed: Math.max(0, used - slots) };
  });
}
