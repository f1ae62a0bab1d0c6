/** The state of each node of an allocation, from the fold and from the reports of its agents. */
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
    | {
        readonly kind: "up";
        readonly pid: number;
        readonly userId: number | undefined;
        readonly terminated?: boolean | undefined;
      }
    | { readonly kind: "ended"; readonly report: ReportedAllocation }
    /** The agent is lost, and may return with the node. */
    | { readonly kind: "away" }
    /** The agent is lost, and nobody waits for it. */
    | { readonly kind: "lost" }
    /** The launch has shown no progress for too long; it may wait for a service of the platform. */
    | { readonly kind: "silent"; readonly waits: boolean }
    /** The agent has processed the request and has no process of the node. */
    | { readonly kind: "absent" };
};

export function ranksOf(
  cluster: Cluster,
  allocation: Allocation,
  observed: Observed,
): readonly Rank[] {
  const ranks = (allocation.grant?.placements ?? []).map((placement) => ({
    placement,
    state: rankState(cluster, allocation, placement, observed),
  }));
  if (!isGivenUp(allocation, ranks, observed)) return ranks;
  return ranks.map((rank) => (isAway(rank) ? { ...rank, state: { kind: "lost" } } : rank));
}

/**
 * True if the end of the allocation does not wait for its lost agents. A run whose other nodes are there is not taken
 * back: they hang without the lost one.
 */
function isGivenUp({ id, stop }: Allocation, ranks: readonly Rank[], { away }: Observed): boolean {
  if (!ranks.some(isAway)) return false;
  const isElsewhere = ranks.some(({ state: { kind } }) => kind !== "away" && kind !== "unknown");
  return stop !== null || away.isEnding(id) || isElsewhere;
}

function isAway({ state }: Rank): boolean {
  return state.kind === "away";
}

/** True if the agent got its name after the grant: the launch may have gone to the previous holder. */
export function isOfEarlierHolder(cluster: Cluster, { grant }: Allocation, agent: string): boolean {
  return (grant?.position ?? 0) < (cluster.agents.get(agent)?.heldSince ?? 0);
}

function rankState(
  cluster: Cluster,
  allocation: Allocation,
  { agent }: Plain<Placement>,
  observed: Observed,
): Rank["state"] {
  const { id } = allocation;
  const seen = observed.agent(agent);
  const report = seen?.allocations.get(id);
  // The last report of a lost agent's process is used if it has arrived, but not waited for.
  if (report?.state === AllocationReportState.ENDED) return { kind: "ended", report };
  const status = cluster.agents.get(agent)?.status;
  if (status !== "present") return { kind: status === "lost" ? "away" : "lost" };
  if (report?.state === AllocationReportState.RUNNING) {
    const { pid, userId, terminated } = report;
    return { kind: "up", pid, userId, terminated };
  }
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

/** True if no further report about the node is expected. */
export function isOver({ state: { kind } }: Rank): boolean {
  return kind !== "unknown" && kind !== "preparing" && kind !== "up" && kind !== "away";
}

/** True if the node's agent has asked the node to end by SIGTERM. */
export function wasTerminated({ state }: Rank): boolean {
  if (state.kind === "up") return state.terminated === true;
  return state.kind === "ended" && state.report.terminated === true;
}

/** True if the node's end ends all nodes; a node that exited cleanly, or after SIGTERM, lets the others finish. */
export function hasFailed(rank: Rank): boolean {
  const { state } = rank;
  if (state.kind === "lost" || state.kind === "absent" || state.kind === "silent") return true;
  if (state.kind !== "ended" || wasTerminated(rank)) return false;
  const { launchFailed, exit } = state.report;
  return launchFailed || exit?.code !== 0 || exit.signal !== "";
}

/** The pid of a node's process, running or ended; 0 if it never started. */
export function pidOf({ state }: Rank): number {
  if (state.kind === "up") return state.pid;
  return state.kind === "ended" ? state.report.pid : 0;
}

/** The user id of the node's processes; undefined if they have the agent's user. */
export function userOf({ state }: Rank): number | undefined {
  if (state.kind === "up") return state.userId;
  return state.kind === "ended" ? state.report.userId : undefined;
}

/** True if the allocation must be killed: by request, or because a node failed. */
export function isDoomed(allocation: Allocation, ranks: readonly Rank[]): boolean {
  return allocation.stop?.kill === true || ranks.some(hasFailed);
}
