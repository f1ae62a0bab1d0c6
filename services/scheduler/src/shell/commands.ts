import { GetPoolCapacitySchema, PoolCapacitySchema } from "@trainyard/contracts/commands";
import { type CommandSpec, command } from "@trainyard/runtime";
import type { Cluster } from "../core/cluster/cluster.ts";
import { limits } from "../limits.ts";

export function schedulerCommands(cluster: Cluster): Readonly<Record<string, CommandSpec>> {
  return {
    GetPoolCapacity: command(GetPoolCapacitySchema, PoolCapacitySchema, async (request) => {
      const pool = request.pool || limits.defaultPool;
      const agents = cluster.pools.get(pool)?.agents;
      return {
        pool,
        slotsEver: agents?.known.slots ?? 0,
        slotsOfLargest: agents?.largest ?? 0,
        agentsKnown: agents?.known.agents ?? 0,
        agentsPresent: agents?.present.agents ?? 0,
      };
    }),
  };
}
