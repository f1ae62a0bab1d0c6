/** The condition on which a waiting run starts, as half a sentence. */
import type { Block } from "./agents.ts";
import type { Claim, Obstacle } from "./claim.ts";
import type { Demand } from "./demand.ts";
import { schedulingLimits } from "./limits.ts";
import type { PlacedRun } from "./placed.ts";
import { areText, slotsText } from "./texts.ts";

export type WaitReason =
  | "no_agents"
  | "agents_away"
  | "not_enough_free"
  | "behind_others"
  | "reserved"
  | "quota"
  | "max_slots"
  | "fair_share"
  | "constraints"
  | "preempting"
  | Block["kind"];

/** The obstacle of a run, and the first of the runs ahead if it is behind others. */
type Looked = {
  readonly obstacle?: Obstacle | undefined;
  readonly ahead: string | undefined;
  readonly nowMs: number;
};

export function startsWhen(
  demand: Demand,
  reason: WaitReason,
  { obstacle, ahead, nowMs }: Looked,
): string {
  const needed = `${slotsText(demand.slots)}${demand.singleAgent ? " of one agent" : ""}`;
  const are = areText(demand.slots);
  switch (reason) {
    case "no_agents":
      return "when an agent has joined the pool";
    case "agents_away":
    case "constraints":
      return "when such an agent is back";
    case "silent":
    case "low_disk":
    case "distrusted":
    case "disabled":
    case "protocol":
      return "when the agent takes runs again";
    case "quota":
      return quotaText(demand, obstacle);
    case "max_slots":
      return "when runs of the experiment end, or its max_slots is raised";
    case "fair_share":
      return `when the experiment holds less than its share, or ${needed} ${are} left over`;
    case "behind_others":
      return `when the runs ahead have started${ahead === undefined ? "" : `, ${ahead} first`}`;
    case "reserved":
      return `when ${needed} ${are} free beyond those that are reserved`;
    case "preempting":
    case "not_enough_free":
      if (obstacle?.kind === "claim") return claimText(obstacle.claim, nowMs);
      if (obstacle?.kind === "exempt") {
        return `when ${endedText(obstacle.runs)}, which can be preempted in ${secondsText(obstacle.untilMs, nowMs)}`;
      }
      return demand.slots === 0 ? "when a run without slots ends" : `when ${needed} ${are} free`;
  }
}

function claimText({ blockers, startsByMs }: Claim, nowMs: number): string {
  if (blockers.length === 0) return "at the next placement";
  const latest = Number.isFinite(startsByMs)
    ? `, in ${secondsText(startsByMs, nowMs)} by their time limits and preemption timeouts`
    : "";
  return `when ${endedText(blockers)}${latest}`;
}

function endedText(runs: readonly PlacedRun[]): string {
  return `${listOf(idsOf(runs))} ${runs.length === 1 ? "has" : "have"} ended`;
}

export function secondsText(atMs: number, nowMs: number): string {
  return `${Math.ceil((atMs - nowMs) / 1_000)} s`;
}

export function listOf(ids: readonly string[]): string {
  const named = ids.slice(0, schedulingLimits.blockersNamedMax);
  const more = ids.length - named.length;
  return `${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

export function idsOf(runs: readonly PlacedRun[]): readonly string[] {
  return runs.map(({ demand }) => demand.id);
}

/** Runs that end make no room for a run that is larger than the whole quota. */
function quotaText({ workspace, slots }: Demand, obstacle: Obstacle | undefined): string {
  const limit = obstacle?.kind === "limit" ? obstacle.limit : null;
  if (limit?.kind === "quota" && limit.borrows === null && limit.quota.slots < slots) {
    return `when the quota of the workspace ${workspace} is raised: the run needs ${slotsText(slots)}`;
  }
  return `when runs of the workspace ${workspace} end, or its quota is raised`;
}
