/** The commands of this service, decided on the fold and the streams of its term. */
import { defaultPool } from "@trainyard/experiment-config/recorded";
import { type Rejection, reject } from "@trainyard/kernel";
import type { CommandTable } from "@trainyard/runtime";
import { checkPlace } from "../core/pool/check-place.ts";
import { agentCommands } from "./agent-commands.ts";
import type { CommandDeps } from "./command-deps.ts";
import { jobCommands } from "./job-commands.ts";
import { poolCommands } from "./pool-commands.ts";

export function commandTable(deps: CommandDeps): CommandTable<"scheduler"> {
  const { cluster } = deps.follower;
  return {
    ...poolCommands(deps),
    ...agentCommands(deps),
    ...jobCommands(deps),
    GetPoolCapacity: async (request) => {
      const pool = request.pool || defaultPool;
      const capacity = cluster.pools.get(pool)?.agents;
      return {
        pool,
        slotsEver: capacity?.known.slots ?? 0,
        slotsOfLargest: capacity?.largest ?? 0,
        agentsKnown: capacity?.known.agents ?? 0,
        agentsPresent: capacity?.present.agents ?? 0,
      };
    },
    CheckPlace: async ({ resources }) => {
      if (resources === undefined) return noResources;
      const pool = resources.pool || defaultPool;
      return checkPlace(cluster, { ...resources, pool });
    },
  };
}

const noResources: Rejection = reject("invalid_request", "resources: is missing");
