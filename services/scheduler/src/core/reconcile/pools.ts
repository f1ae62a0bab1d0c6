import type { Cluster } from "../cluster/cluster.ts";
import { unconfigured } from "../pool/configuration.ts";
import type { Decision } from "./decision.ts";

/** A pool is configured when the first agent joins it. */
export function poolDecisions(cluster: Cluster): readonly Decision[] {
  return [...cluster.pools.keys()]
    .filter((name) => !cluster.configured.has(name) && cluster.members.of(name).size > 0)
    .map((id) => {
      const command = { kind: "configure", configured: unconfigured, by: "join" } as const;
      return { on: "pool", id, origin: null, command };
    });
}
