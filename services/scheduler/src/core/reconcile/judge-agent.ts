/** What follows for an agent from its report: who it is, what it offers, what it still occupies. */
import type { EventData, Plain } from "@trainyard/contracts";
import { AllocationReportState, type Report } from "@trainyard/contracts/agent";
import { offerText } from "../agent/decide.ts";
import { type Holder, holderOf, isSameHolder } from "../agent/holder.ts";
import type { AgentCommand } from "../agent/state.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { Agent } from "../cluster/state.ts";
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
  if (agent === undefined || agent.status === "removed") return joining(report);
  const alive = report.allocations.filter(isAlive);
  // A copy of its folder that started later, or the host after a new boot: what was asked of the one before is not its.
  const isElsewhere = held?.folder !== undefined && !isSameHolder(held, report);
  if (agent.status === "lost" || isElsewhere) return returning(agent, report, alive);
  const commands: AgentCommand[] = [];
  if (offerText(agent.joined) !== offerText(offerOf(report))) {
    commands.push({ kind: "join", joined: offerOf(report) });
  }
  const unexpected = alive.some(({ allocation }) => !isKnown(cluster, agent, allocation));
  // Something runs there that nobody knows of: what it occupies must not be given to others.
  if (unexpected) return [...commands, occupying(alive, report)];
  return [...commands, ...clearing(agent, observed)];
}

/** Whose the name is; null for nobody's. */
export function heldOf(agent: Agent | undefined): Holder | null {
  return agent?.status === "present" ? holderOf(agent.joined) : null;
}

function offerOf(report: Plain<Report>) {
  const { pool, slots, labels, agentVersion: version, address } = report;
  const offer = { pool, slots, labels, version, address, ...holderOf(report) };
  return offer satisfies EventData<"AgentJoined">;
}

function joining(report: Plain<Report>): readonly AgentCommand[] {
  const alive = report.allocations.filter(isAlive);
  const joined: AgentCommand = { kind: "join", joined: offerOf(report) };
  return alive.length === 0 ? [joined] : [joined, occupying(alive, report)];
}

function returning(
  agent: Agent,
  report: Plain<Report>,
  alive: readonly ReportedAllocation[],
): readonly AgentCommand[] {
  const moved = agent.joined.pool !== report.pool || agent.joined.address !== report.address;
  const returned = occupying(alive, report);
  return moved ? [returned, { kind: "join", joined: offerOf(report) }] : [returned];
}

function occupying(alive: readonly ReportedAllocation[], report: Plain<Report>): AgentCommand {
  const occupations = alive.map(({ allocation, slots }) => ({ allocation, slots }));
  return { kind: "return", occupations, slots: report.slots, holder: holderOf(report) };
}

function isAlive({ state }: ReportedAllocation): boolean {
  return state !== AllocationReportState.ENDED;
}

function isKnown(cluster: Cluster, { id, ghosts }: Agent, allocation: string): boolean {
  return cluster.placedOn(id).has(allocation) || ghosts[allocation] !== undefined;
}

/**
 * Ghosts that are gone: reported as ended, or not named by an agent that has processed a list of this term in which they
 * were not wanted, so that no launch can still be under way to it.
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
