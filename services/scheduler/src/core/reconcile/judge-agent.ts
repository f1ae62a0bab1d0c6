/** The consequences of a report for its agent: its identity, its offer, the slots that it occupies. */
import type { EventData, Plain } from "@trainyard/contracts";
import { AllocationReportState, type Report, runOfKey } from "@trainyard/contracts/agent";
import type { RunCheckpoints } from "@trainyard/contracts/events";
import { limits } from "../../limits.ts";
import { offerText } from "../agent/decide.ts";
import { type Holder, holderOf, isSameHolder } from "../agent/holder.ts";
import type { AgentCommand } from "../agent/state.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { Agent } from "../cluster/state.ts";
import { latestOf } from "../sealed.ts";
import type { Observed, ReportedAllocation } from "./observed.ts";

export function judgeAgent(
  cluster: Cluster,
  observed: Observed,
  id: string,
): readonly AgentCommand[] {
  const seen = observed.agent(id);
  if (seen === undefined) return [];
  const { report } = seen;
  const agent = cluster.agents.get(id);
  const held = heldOf(agent);
  if (agent === undefined || agent.status === "removed") return joining(cluster, report);
  const alive = report.allocations.filter(isAlive);
  // The reporting start is a copy of the folder, or the host after a reboot: requests to the earlier start do not apply
  // to it.
  const isElsewhere = held !== null && !isSameHolder(held, report);
  if (agent.status === "lost" || isElsewhere) return returning(cluster, agent, report, alive);
  const commands: AgentCommand[] = [];
  if (offerText(agent.joined) !== offerText(offerOf(report))) {
    commands.push({ kind: "join", joined: offerOf(report) });
  }
  const unexpected = alive.some(({ allocation }) => !isKnown(cluster, agent, allocation));
  // The agent runs an unknown run, whose slots must not be given to others.
  if (unexpected) return [...commands, occupying(cluster, alive, report)];
  return [...commands, ...clearing(agent, observed)];
}

/** The holder of the name; null for none. */
export function heldOf(agent: Agent | undefined): Holder | null {
  return agent?.status === "present" ? holderOf(agent.joined) : null;
}

function offerOf(report: Plain<Report>) {
  const { pool, slots, labels, agentVersion: version, address, processGroups } = report;
  const { protocol, protocolOldest, engine, runsAsRoot } = report;
  const offered = { pool, slots, labels, version, address, processGroups };
  return {
    ...offered,
    ...holderOf(report),
    protocol,
    protocolOldest,
    ...(engine === undefined ? {} : { engine }),
    ...(runsAsRoot === undefined ? {} : { runsAsRoot }),
  } satisfies EventData<"AgentJoined">;
}

function joining(cluster: Cluster, report: Plain<Report>): readonly AgentCommand[] {
  const alive = report.allocations.filter(isAlive);
  const joined: AgentCommand = { kind: "join", joined: offerOf(report) };
  const returned = occupying(cluster, alive, report);
  const isEmpty = alive.length === 0 && returned.left.length === 0;
  return isEmpty ? [joined] : [joined, returned];
}

function returning(
  cluster: Cluster,
  agent: Agent,
  report: Plain<Report>,
  alive: readonly ReportedAllocation[],
): readonly AgentCommand[] {
  const moved = agent.joined.pool !== report.pool || agent.joined.address !== report.address;
  const returned = occupying(cluster, alive, report);
  return moved ? [returned, { kind: "join", joined: offerOf(report) }] : [returned];
}

function occupying(
  cluster: Cluster,
  alive: readonly ReportedAllocation[],
  report: Plain<Report>,
): Extract<AgentCommand, { kind: "return" }> & { readonly left: readonly Plain<RunCheckpoints>[] } {
  const occupations = alive.map(({ allocation, slots }) => ({ allocation, slots }));
  return {
    kind: "return",
    occupations,
    slots: report.slots,
    left: leftBy(cluster, report),
    holder: holderOf(report),
  };
}

/**
 * Returns the checkpoints and the last validations of abandoned runs; a run that continues here names its own at its
 * end. The list has as many checkpoints as an event holds, the latest first.
 */
function leftBy(cluster: Cluster, report: Plain<Report>): readonly Plain<RunCheckpoints>[] {
  const givenUp = report.allocations.filter(({ allocation }) => {
    // A run of a lost history has left nothing to a run of this one.
    if (runOfKey(allocation).requestId !== "") return false;
    return !cluster.placedOn(report.agent).has(allocation);
  });
  const kept = new Set(
    latestOf(
      givenUp.flatMap(({ sealed }) => sealed?.checkpoints ?? []),
      limits.sealedOfAgentMax,
    ),
  );
  return givenUp.flatMap(({ allocation, nodeRank, sealed, lastValidation }) => {
    const checkpoints = (sealed?.checkpoints ?? []).filter((one) => kept.has(one));
    // Only the chief's node has recorded validations.
    const named = nodeRank === 0 && lastValidation !== undefined ? { lastValidation } : {};
    const isEmpty = checkpoints.length === 0 && named.lastValidation === undefined;
    return isEmpty ? [] : [{ allocation, checkpoints, ...named }];
  });
}

function isAlive({ state }: ReportedAllocation): boolean {
  return state !== AllocationReportState.ENDED;
}

function isKnown(cluster: Cluster, { id, ghosts }: Agent, allocation: string): boolean {
  return cluster.placedOn(id).has(allocation) || ghosts[allocation] !== undefined;
}

/**
 * Ghosts that have ended: reported as ended, or not named by an agent that has processed a list of this term that
 * wanted them ended, so that no launch can still be under way.
 */
function clearing(agent: Agent, observed: Observed): readonly AgentCommand[] {
  const seen = observed.agent(agent.id);
  if (seen === undefined) return [];
  return Object.entries(agent.ghosts).flatMap(([allocation, slots]): AgentCommand[] => {
    const reported = seen.allocations.get(allocation);
    const since = observed.asked(agent.id).knownSince.get(allocation);
    const absent =
      reported === undefined && since !== undefined && observed.hasProcessed(agent.id, since);
    const gone = reported?.state === AllocationReportState.ENDED || absent;
    return gone ? [{ kind: "clear", allocation, slots }] : [];
  });
}
