/**
 * Decides about agents that do not report. An agent is lost after `agentSilenceMs`, except that the scheduler waits for
 *
 * - agents with runs that were not heard yet, for `firstWordMs` if everything was off before this term;
 * - agents that fell silent together, more than a third of all: the cause is probably what they share, such as the
 *   network.
 *
 * A wait is recorded, so that people see it and the next term continues it. An agent that is still silent when its wait
 * is over is lost, whatever other agents do.
 */
import { limits } from "../../limits.ts";
import type { AgentCommand } from "../agent/state.ts";
import type { Agent } from "../cluster/state.ts";
import type { Decision } from "./decision.ts";
import type { Round } from "./gather.ts";

type Silent = Agent & { readonly silentMs: number };

export function silenceDecisions(round: Round): readonly Decision[] {
  const { cluster, agentSilenceMs, deadlines, nowMs } = round;
  const due: Silent[] = [];
  for (const agent of cluster.agents.values()) {
    if (agent.status !== "present") continue;
    const silentMs = round.silentForMs(agent.id);
    if (silentMs > agentSilenceMs) due.push({ ...agent, silentMs });
  }
  if (due.length === 0) return [];
  const over = due.filter(({ id, awaited }) => awaited !== null && deadlines.hasWaited(id, nowMs));
  const open = due.filter(({ awaited }) => awaited === null);
  const unheard = new Map(
    open.filter((one) => isFirstWord(round, one)).map((one) => [one.id, one]),
  );
  const others = open.filter(({ id }) => !unheard.has(id));
  const together = others.some((one) => isRecent(round, one)) ? silentTogether(round) : null;
  const lost = together === null ? others : others.filter((one) => !isRecent(round, one));
  const [first] = unheard.values();
  const awaited = together?.agents.filter(({ id }) => !unheard.has(id)) ?? [];
  return [
    ...[...over, ...lost].map(({ id, silentMs }) =>
      decided(id, { kind: "lose", reason: `not heard for ${Math.round(silentMs / 1_000)} s` }),
    ),
    ...waitsFor(round, [...unheard.values()], {
      reason: "not heard since the scheduler started, before which everything was off",
      waitMs: round.firstWordMs - (first?.silentMs ?? 0),
    }),
    ...waitsFor(round, awaited, {
      reason: together?.reason ?? "",
      waitMs: round.massSilenceWaitMs,
    }),
  ];
}

/** Records which of the awaited agents report again; called at beats, so that many are named together. */
export function endsOfSilence({ cluster, observed, nowMs }: Round): readonly Decision[] {
  const heard = [...cluster.awaited].filter((id) => {
    const heardMs = observed.agent(id)?.heardMs ?? Number.NEGATIVE_INFINITY;
    return nowMs - heardMs <= limits.probeGapMs;
  });
  const silent = cluster.awaited.size - heard.length;
  return chunksOf(heard).map((agents) =>
    decided(agents[0] ?? "", { kind: "note_heard", heard: { agents, silent } }),
  );
}

/**
 * Removes agents that were lost long ago. Those that users have taken out of use, and those with checkpoints that are
 * not stored yet or with unkillable processes, stay.
 */
export function forgetDecisions(round: Round): readonly Decision[] {
  const { cluster, deadlines, nowMs, forgetLostMs } = round;
  const beforeMs = deadlines.foldMs(nowMs) - forgetLostMs;
  const forgotten = [...cluster.agents.values()].filter(
    ({ id, lostAtMs, left, out, slotsOut, undelivered }) =>
      lostAtMs !== null &&
      lostAtMs <= beforeMs &&
      out === null &&
      undelivered === null &&
      cluster.placedOn(id).size === 0 &&
      Object.keys({ ...left, ...slotsOut }).length === 0,
  );
  const reason = `lost for ${Math.round(forgetLostMs / 3_600_000)} h, without runs`;
  return forgotten.map(({ id }) => decided(id, { kind: "remove", reason, runs: [], force: false }));
}

function isFirstWord({ cluster, observed, firstWordMs }: Round, { id, silentMs }: Silent): boolean {
  if (silentMs >= firstWordMs || cluster.placedOn(id).size === 0) return false;
  return observed.agent(id) === undefined;
}

/** False for an agent that was waited for, or whose silence has another cause than that of agents silent now. */
function isRecent({ agentSilenceMs }: Round, { silentMs }: Pick<Silent, "silentMs">): boolean {
  return silentMs <= agentSilenceMs + limits.massSilenceWithinMs;
}

/**
 * Returns the present agents that have fallen silent together, with those that were lost before this was clear; null if
 * they are too few. An agent counts early, after a part of the silence that loses it.
 */
function silentTogether(
  round: Round,
): { readonly agents: readonly Agent[]; readonly reason: string } | null {
  const { cluster, observed, agentSilenceMs, massSilenceWaitMs, silentForMs } = round;
  if (massSilenceWaitMs === 0) return null;
  const agents: Agent[] = [];
  let silent = 0;
  let all = 0;
  for (const agent of cluster.agents.values()) {
    const { id, status } = agent;
    const silentMs = silentForMs(id);
    const isSilent = silentMs > agentSilenceMs / 3 && isRecent(round, { silentMs });
    const counts = status === "lost" && isSilent && observed.agent(id) !== undefined;
    if (status !== "present" && !counts) continue;
    all += 1;
    if (!isSilent) continue;
    silent += 1;
    if (status === "present" && agent.awaited === null) agents.push(agent);
  }
  const { massSilenceAgents, massSilencePart } = limits;
  if (silent < massSilenceAgents || silent <= massSilencePart * all) return null;
  return { agents, reason: `${silent} of ${all} agents fell silent together` };
}

function waitsFor(
  { cluster }: Round,
  agents: readonly Agent[],
  { reason, waitMs }: { readonly reason: string; readonly waitMs: number },
): readonly Decision[] {
  const silent = cluster.awaited.size + agents.length;
  return chunksOf(agents.map(({ id }) => id)).map((named) => {
    const said = { agents: named, silent, reason, waitMs };
    return decided(named[0] ?? "", { kind: "note_silent", silent: said });
  });
}

function chunksOf(agents: readonly string[]): readonly (readonly string[])[] {
  const { silentNamedMax } = limits;
  return Array.from({ length: Math.ceil(agents.length / silentNamedMax) }, (_, n) =>
    agents.slice(n * silentNamedMax, (n + 1) * silentNamedMax),
  );
}

function decided(id: string, command: AgentCommand): Decision {
  return { on: "agent", id, origin: null, command };
}
