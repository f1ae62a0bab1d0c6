import { defaultPool } from "@trainyard/experiment-config/recorded";
import { isName, reject } from "@trainyard/kernel";
import type { CommandTable } from "@trainyard/runtime";
import { problemOf, unconfigured } from "../core/pool/configuration.ts";
import { poolInfo, runsOf } from "../core/pool/pool-info.ts";
import { pools } from "../streams.ts";
import { type CommandDeps, decided } from "./command-deps.ts";

export function poolCommands(deps: CommandDeps) {
  const { cluster } = deps.follower;
  return {
    ConfigurePool: async (request, context) => {
      const { pool, policy, settings, create } = request;
      const configured = {
        policy: policy || unconfigured.policy,
        ...(settings === undefined ? {} : { settings }),
      };
      const problem = problemOf(pool, configured);
      if (problem !== null) return problem;
      const by = create ? "create" : "update";
      return decided(deps, context, `pool ${pool}`, (work) =>
        work.decide(pools, pool, { kind: "configure", configured, by }),
      );
    },
    RemovePool: async ({ pool }, context) => {
      if (pool === defaultPool) return isDefault(pool);
      if (!isName(pool)) return reject("pool_not_found", `no pool can have the name "${pool}"`);
      return decided(deps, context, `pool ${pool}`, (work) => {
        const agents = cluster.members.of(pool).size;
        const runs = runsOf(cluster, pool).length;
        return work.decide(pools, pool, { kind: "remove", agents, runs });
      });
    },
    GetPools: async () => {
      const names = [...cluster.configured.keys()].toSorted();
      return { pools: names.map((name) => poolInfo(cluster, name, deps.guard.asideIn(name))) };
    },
  } satisfies Partial<CommandTable<"scheduler">>;
}

function isDefault(pool: string) {
  const detail = `the pool ${pool} is the default of agents and experiments without a pool: it cannot be removed`;
  return reject("pool_is_default", detail);
}
