import {
  GetPoolCapacitySchema,
  PoolCapacitySchema,
  TrustAgentSchema,
} from "@trainyard/contracts/commands";
import { defaults } from "@trainyard/experiment-config/recorded";
import { isRejection } from "@trainyard/kernel";
import {
  AcceptedSchema,
  accepted,
  type CommandSpec,
  command,
  type Executor,
} from "@trainyard/runtime";
import type { Cluster } from "../core/cluster/cluster.ts";
import { agents } from "../streams.ts";

export function schedulerCommands(
  cluster: Cluster,
  executor: Executor,
): Readonly<Record<string, CommandSpec>> {
  return {
    TrustAgent: command(TrustAgentSchema, AcceptedSchema, async ({ agent }, context) => {
      const reason = "a user trusts it again";
      const result = await executor.execute(context.identity, async (work) => {
        const decided = await work.decide(agents, agent, { kind: "trust", reason });
        return isRejection(decided)
          ? { ...decided, detail: `agent ${agent}: ${decided.detail}` }
          : undefined;
      });
      return accepted(result);
    }),
    GetPoolCapacity: command(GetPoolCapacitySchema, PoolCapacitySchema, async (request) => {
      const pool = request.pool || defaults.resources.resource_pool;
      const capacity = cluster.pools.get(pool)?.agents;
      return {
        pool,
        slotsEver: capacity?.known.slots ?? 0,
        slotsOfLargest: capacity?.largest ?? 0,
        agentsKnown: capacity?.known.agents ?? 0,
        agentsPresent: capacity?.present.agents ?? 0,
      };
    }),
  };
}
