/** How far each node of an allocation is, from the fold and from what its agents report. */
import type { Plain } from "@trainyard/contracts";
import { AllocationReportState } from "@trainyard/contracts/agent";
import type { Placement } from "@trainyard/contracts/events";
import type { Cluster } from "../cluster/cluster.ts";
import type { Allocation } from "../cluster/state.ts";
import type { Observed, ReportedAllocation } from "./observed.ts";

export type Rank = {
  readonly placement: Plain<Placement>;
  readonly state:
    | { readonly kind: "unknown" }
    | { readonly kind: "preparing" }
    | { readonly kind: "up"; readonly pid: number }
    | { readonly kind: "ended"; readonly report: ReportedAllocation }
    /** Its agent was lost while it ran. */
    | { readonly kind: "lost" }
    /** Its launch has shown no progress for too long; it may wait for a service of the platform. */
    | { readonly kind: "silent"; readonly waits: boolean }
    /** Its agent has processed what was asked and has nothing of it. */
    | { readonly kind: "absent" };
};

export function ranksOf(
  cluster: Cluster,
  allocation: Allocation,
  observed: Observed,
): readonly Rank[] {
  return (allocation.grant?.placements ?? []).map((placement) => ({
    placement,
    state: rankState(cluster, allocation, placement, observed),
  }));
}

/** Whether the agent got its name after the grant: the launch may be under way to the one before it. */
export function isOfEarlierHolder(cluster: Cluster, { grant }: Allocation, agent: string): boolean {
  return (grant?.position ?? 0) < (cluster.agents.get(agent)?.heldSince ?? 0);
}

function rankState(
  cluster: Cluster,
  allocation: Allocation,
  { agent, nodeRank }: Plain<Placement>,
  observed: Observed,
): Rank["state"] {
  const { id, lostRanks } = allocation;
  const seen = observed.agent(agent);
  const report = seen?.allocations.get(id);
  // The last output of a lost agent's process is worth having, but no waiting.
  if (report?.state === AllocationReportState.ENDED) return { kind: "ended", report };
  if (lostRanks.includes(nodeRank)) return { kind: "lost" };
  if (report?.state === AllocationReportState.RUNNING) return { kind: "up", pid: report.pid };
  if (observed.isSilent(agent, id)) {
    return { kind: "silent", waits: report?.waitsForPlatform === true };
  }
  if (report !== undefined) return { kind: "preparing" };
  if (seen !== undefined && isOfEarlierHolder(cluster, allocation, agent)) {
    return { kind: "absent" };
  }
  const since = observed.asked(agent).knownSince.get(id);
  if (since !== undefined && observed.hasProcessed(agent, since)) return { kind: "absent" };
  return { kind: "unknown" };
}

/** Whether nothing more is to be expected of it. */
export function isOver({ state }: Rank): boolean {
  return state.kind !== "unknown" && state.kind !== "preparing" && state.kind !== "up";
}

/** Whether its end is the end of all: one that exited cleanly leaves the others to finish. */
export function hasFailed({ state }: Rank): boolean {
  if (state.kind === "lost" || state.kind === "absent" || state.kind === "silent") return true;
  if (state.kind !== "ended") return false;
  const { launchFailed, exit } = state.report;
  return launchFailed || exit?.code !== 0 || exit.signal !== "";
}

/** The pid of a process that is or was up; 0 for one that never was. */
export function pidOf({ state }: Rank): number {
  if (state.kind === "up") return state.pid;
  return state.kind === "ended" ? state.report.pid : 0;
}

/** Whether it must be killed: it was asked for, or a node of it failed. */
export function isDoomed(allocation: Allocation, ranks: readonly Rank[]): boolean {
  if (allocation.stop?.kill === true || allocation.lostRanks.length > 0) return true;
  return ranks.some(hasFailed);
}
