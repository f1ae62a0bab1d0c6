/** The reasons of waits that have to be recorded: changed ones, of the first runs in each queue. */
import { WaitCode } from "@trainyard/contracts/events";
import { explainWaits, type Wait, type WaitReason } from "@trainyard/scheduling";
import { limits } from "../../limits.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { Allocation } from "../cluster/state.ts";
import type { Decision } from "./decision.ts";

const waitCodes: Readonly<Record<WaitReason, WaitCode>> = {
  no_agents: WaitCode.NO_AGENTS,
  agents_away: WaitCode.AGENTS_AWAY,
  not_enough_free: WaitCode.NOT_ENOUGH_FREE_SLOTS,
  behind_others: WaitCode.BEHIND_OTHERS,
  low_disk: WaitCode.LOW_DISK,
  distrusted: WaitCode.AGENTS_DISTRUSTED,
  disabled: WaitCode.AGENTS_AWAY,
  silent: WaitCode.AGENTS_AWAY,
  // An incompatible agent counts as unavailable until it is updated; the detail says so.
  protocol: WaitCode.AGENTS_AWAY,
  reserved: WaitCode.RESERVED,
  quota: WaitCode.QUOTA,
  max_slots: WaitCode.MAX_SLOTS,
  fair_share: WaitCode.FAIR_SHARE,
  constraints: WaitCode.CONSTRAINTS,
  preempting: WaitCode.PREEMPTING,
};

/** Explains the changed pools, until all their reasons are recorded. */
export function explanations(cluster: Cluster, nowMs: number): readonly Decision[] {
  return [...cluster.unexplained].flatMap((name) => {
    const pool = cluster.pools.get(name);
    const waits = pool === undefined ? [] : explainWaits(pool, limits.explainedPerBeatMax, nowMs);
    const changed = waits.flatMap((wait) => {
      const allocation = cluster.allocations.get(wait.id);
      return allocation === undefined || isRecorded(allocation, wait) ? [] : [{ allocation, wait }];
    });
    if (changed.length === 0) cluster.unexplained.delete(name);
    return changed
      .filter(({ allocation }) => nowMs >= dueMsOf(allocation))
      .map(({ allocation, wait }) => decisionOf(allocation, wait));
  });
}

function isRecorded({ wait }: Allocation, { reason, limit }: Wait): boolean {
  return wait?.code === waitCodes[reason] && wait.limit === limit;
}

function dueMsOf({ wait, queuedAtMs }: Allocation): number {
  if (wait === null) return queuedAtMs + limits.explainAfterMs;
  return wait.atMs + limits.explainAgainMs;
}

function decisionOf({ id, origin }: Allocation, { reason, detail, limit }: Wait): Decision {
  const command = { kind: "explain", code: waitCodes[reason], detail, limit } as const;
  return { on: "allocation", id, origin, command };
}
