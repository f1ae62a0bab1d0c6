/**
 * Computes the decisions of one round: all consequences of the fold, of the agents' reports, and of the time. Pure,
 * except that it takes the fold's sets of changes; its caller commits the decisions before the next round.
 */
import { StopMode } from "@trainyard/contracts/events";
import { refusalOf } from "../agent/holder.ts";
import type { AgentCommand } from "../agent/state.ts";
import type { AllocationCommand } from "../allocation/state.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { Allocation } from "../cluster/state.ts";
import type { Decision } from "./decision.ts";
import type { Deadlines } from "./deadlines.ts";
import { drainDecisions } from "./drains.ts";
import type { Guard } from "./guard.ts";
import { heldOf, judgeAgent } from "./judge-agent.ts";
import { judgeAllocation } from "./judge-allocation.ts";
import { judgeHost } from "./judge-host.ts";
import type { Observed } from "./observed.ts";
import { placementDecisions, timeLimitDecisions } from "./passes.ts";
import { poolDecisions } from "./pools.ts";
import { ranksOf } from "./ranks.ts";
import { forgetDecisions, endsOfSilence, silenceDecisions } from "./silence.ts";
import { Faults, trustDecisions } from "./trusts.ts";

export type Round = {
  readonly cluster: Cluster;
  readonly observed: Observed;
  /** Agents that reported since the last round; cleared by the round. */
  readonly reported: Set<string>;
  readonly tokenKey: string;
  readonly deadlines: Deadlines;
  readonly guard: Guard;
  /** The present time of the monotonic clock. */
  readonly nowMs: number;
  /** The time for which an agent has been silent, as far as silence counts. */
  readonly silentForMs: (agent: string) => number;
  readonly agentSilenceMs: number;
  /** The silence after which an agent with runs is lost that was not heard in this term; 0 if it is as any other. */
  readonly firstWordMs: number;
  readonly massSilenceWaitMs: number;
  readonly forgetLostMs: number;
  /** The silence of an agent that was refused the name, in the same way. */
  readonly refusedSilentForMs: (agent: string) => number;
  readonly leaseEpoch: number;
  /** True if the log has refused the decision recently. */
  readonly isSetAside: (decision: Decision) => boolean;
};

export function gather(round: Round): readonly Decision[] {
  const { cluster, observed, deadlines, nowMs } = round;
  deadlines.look(cluster, nowMs);
  cluster.admit(
    (allocation) => deadlines.mayBePlaced(allocation, nowMs),
    (agent) => deadlines.mayBeTried(agent, nowMs),
  );
  for (const { id, agents } of cluster.ended.splice(0)) {
    for (const agent of agents) observed.drop(agent, id);
  }
  watchLaunches(round);
  const isBeat = observed.isBeat(nowMs);
  if (isBeat) observed.away.look(round);
  const reports = reportDecisions(round);
  const firm = [
    ...poolDecisions(cluster),
    ...epochDecisions(round),
    ...reports,
    ...(isBeat ? [...endsOfSilence(round), ...forgetDecisions(round)] : []),
    ...silenceDecisions(round),
    ...nameDecisions(round),
    ...trustDecisions(round),
    ...drainDecisions(cluster, observed),
    ...killDecisions(round),
    ...timeLimitDecisions(round),
    ...allocationDecisions(round, returning(reports)),
  ].filter((decision) => !round.isSetAside(decision));
  // Placements depend on recorded states: an agent that this round declares lost gets no runs.
  if (firm.length > 0) return firm;
  return placementDecisions(round).filter((decision) => !round.isSetAside(decision));
}

function reportDecisions({ cluster, observed, reported }: Round): readonly Decision[] {
  const decisions: Decision[] = [];
  for (const id of reported) {
    reported.delete(id);
    for (const allocation of cluster.placedOn(id)) cluster.touchedAllocations.add(allocation);
    cluster.touchedAgents.add(id);
    observed.settle(id, heldOf(cluster.agents.get(id)));
    const commands = judgeAgent(cluster, observed, id);
    // The host's records require that the agent's join is recorded first.
    for (const command of commands.length > 0 ? commands : judgeHost(cluster, observed, id)) {
      decisions.push({ on: "agent", id, origin: null, command });
    }
  }
  return decisions;
}

/** Agents ignore lists of a lower epoch than they have seen. */
function epochDecisions({ cluster, observed, leaseEpoch }: Round): readonly Decision[] {
  const ahead = observed.ahead((agent) => cluster.agents.has(agent));
  if (ahead === null) return [];
  const from = observed.epoch;
  const command = { kind: "raise_epoch", from, to: ahead.epoch + 1, leaseEpoch } as const;
  return [{ on: "agent", id: ahead.agent, origin: null, command }];
}

/** A refused agent is recorded, for people to see, while it asks for another agent's name. */
function nameDecisions(round: Round): readonly Decision[] {
  const { cluster, observed, refusedSilentForMs, agentSilenceMs } = round;
  const decisions: Decision[] = [];
  for (const { id, status, refused, joined } of cluster.agents.values()) {
    const [asking] = status === "present" ? observed.refused(id) : [];
    const decided = (command: AgentCommand) =>
      decisions.push({ on: "agent", id, origin: null, command });
    if (asking !== undefined && refused === null) {
      const { folder, place, address } = asking.report;
      const reason = refusalOf(id, asking.standing, joined.address);
      decided({ kind: "refuse", folder, place, address, reason });
    } else if (refused !== null && asking === undefined) {
      if (refusedSilentForMs(id) > agentSilenceMs) decided({ kind: "refuse_nobody" });
    }
  }
  return decisions;
}

/** Launches are checked in every round, since a long silence ends them. One that is set aside was not sent. */
function watchLaunches({ cluster, observed, guard, nowMs }: Round): void {
  for (const id of cluster.launching) {
    for (const { agent } of cluster.allocations.get(id)?.grant?.placements ?? []) {
      const wasSilent = observed.isSilent(agent, id);
      observed.watchLaunch(agent, id, nowMs, guard.has("launch", id));
      if (wasSilent || !observed.isSilent(agent, id)) continue;
      cluster.touchedAllocations.add(id);
      cluster.touchedAgents.add(agent);
    }
  }
}

/** Turns graceful stops into kills when their grace is over. */
function killDecisions({ cluster, deadlines, nowMs }: Round): readonly Decision[] {
  return [...cluster.stopping].flatMap((id) => {
    const allocation = cluster.allocations.get(id);
    const stop = allocation?.stop;
    if (allocation === undefined || stop == null || !deadlines.mayBeKilled(id, nowMs)) return [];
    const command = { kind: "stop", mode: StopMode.KILL, why: stop.why, graceMs: 0 } as const;
    return [decisionOn(allocation, command)];
  });
}

function returning(reports: readonly Decision[]): ReadonlySet<string> {
  return new Set(reports.flatMap(({ id, command }) => (command.kind === "return" ? [id] : [])));
}

/** The return of an agent is recorded before decisions about its runs, which may continue. */
function allocationDecisions(round: Round, agents: ReadonlySet<string>): readonly Decision[] {
  const { cluster, observed } = round;
  const faults = new Faults(round);
  const decisions: Decision[] = [];
  for (const id of cluster.touchedAllocations) {
    const allocation = cluster.allocations.get(id);
    if (allocation?.grant?.placements.some(({ agent }) => agents.has(agent)) === true) continue;
    cluster.touchedAllocations.delete(id);
    if (allocation === undefined) continue;
    for (const command of judgeAllocation(allocation, ranksOf(cluster, allocation, observed))) {
      decisions.push(decisionOn(allocation, faults.named(allocation, command)));
    }
  }
  return decisions;
}

function decisionOn({ id, origin }: Allocation, command: AllocationCommand): Decision {
  return { on: "allocation", id, origin, command };
}
