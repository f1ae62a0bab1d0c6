import { foldOf, type ReactionHandlers } from "@trainyard/runtime";
import { defaultSettings } from "@trainyard/scheduling";
import type { Cluster } from "../core/cluster/cluster.ts";
import { onRunRequested, onRunStopRequested, onRunStopWithdrawn } from "../core/reactions.ts";
import { allocations } from "../streams.ts";

export function reactionHandlers(cluster: Cluster): ReactionHandlers {
  const defaultPriority = (pool: string): number =>
    (cluster.pools.get(pool)?.settings ?? defaultSettings).defaultPriority;
  return {
    async RunRequested({ id, data }, work) {
      const { allocation, command } = onRunRequested(id, data, defaultPriority);
      work.begin(foldOf(allocations), allocation);
      await work.decide(allocations, allocation, command);
    },
    async RunStopRequested({ id, data }, work) {
      const { allocation, command } = onRunStopRequested(id, data);
      await work.decide(allocations, allocation, command);
    },
    async RunStopWithdrawn({ id, data }, work) {
      const { allocation, command } = onRunStopWithdrawn(id, data);
      await work.decide(allocations, allocation, command);
    },
  };
}
