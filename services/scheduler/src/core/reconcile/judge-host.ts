/**
 * The consequences of an agent's report about its host: free disk space, checkpoints that ended runs have left, and
 * processes that cannot be killed, and what its operator should know.
 */
import { sameNotices } from "../agent/decide.ts";
import type { AgentCommand } from "../agent/state.ts";
import { isOfOthers, noneLeft } from "../agent/undelivered.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { Agent } from "../cluster/state.ts";
import { limits } from "../../limits.ts";
import type { Observed, ObservedAgent } from "./observed.ts";

export function judgeHost(
  cluster: Cluster,
  observed: Observed,
  id: string,
): readonly AgentCommand[] {
  const agent = cluster.agents.get(id);
  const seen = observed.agent(id);
  if (agent === undefined || agent.status !== "present" || seen === undefined) return [];
  return [
    ...diskOf(agent, seen),
    ...checkpointsOf(agent, seen),
    ...leftOf(agent, seen),
    ...noticesOf(agent, seen),
  ];
}

function diskOf({ diskLowBytes }: Agent, { report }: ObservedAgent): readonly AgentCommand[] {
  const freeBytes = report.diskFreeBytes;
  const isLow = diskLowBytes !== null;
  const low = freeBytes < (isLow ? limits.diskFreedBytes : limits.diskFloorBytes);
  return low === isLow ? [] : [{ kind: "note_disk", low, freeBytes }];
}

function checkpointsOf({ undelivered }: Agent, { report }: ObservedAgent): readonly AgentCommand[] {
  const left = report.undelivered ?? noneLeft;
  return isOfOthers(undelivered, left) ? [{ kind: "note_checkpoints", left }] : [];
}

function leftOf({ left }: Agent, { allocations }: ObservedAgent): readonly AgentCommand[] {
  const commands: AgentCommand[] = [];
  const ids = new Set([...Object.keys(left), ...allocations.keys()]);
  for (const allocation of ids) {
    const message = (allocations.get(allocation)?.left ?? "").slice(0, limits.messageCharsMax);
    if (message !== (left[allocation] ?? "")) {
      commands.push({ kind: "note_left", allocation, message });
    }
  }
  return commands;
}

function noticesOf(agent: Agent, { report }: ObservedAgent): readonly AgentCommand[] {
  const shown = report.notices.slice(0, limits.noticesMax);
  const notices = shown.map((text) => text.slice(0, limits.messageCharsMax));
  return sameNotices(agent.notices, notices) ? [] : [{ kind: "note_notices", notices }];
}
