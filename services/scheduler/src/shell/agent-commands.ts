import { isName, type Rejection, reject } from "@trainyard/kernel";
import type { CommandContext, CommandTable } from "@trainyard/runtime";
import type { AgentCommand } from "../core/agent/state.ts";
import type { Cluster } from "../core/cluster/cluster.ts";
import { agents } from "../streams.ts";
import { type CommandDeps, decided } from "./command-deps.ts";

export function agentCommands(deps: CommandDeps) {
  const { cluster } = deps.follower;
  const tell = (agent: string, context: CommandContext, commandOf: () => AgentCommand) => {
    if (!isName(agent)) return Promise.resolve(unknownName(agent));
    return decided(deps, context, `agent ${agent}`, async (work) =>
      work.decide(agents, agent, commandOf()),
    );
  };
  return {
    TrustAgent: ({ agent }, context) => {
      const reason = "a user trusts it again";
      return tell(agent, context, () => ({ kind: "trust", reason }));
    },
    DisableAgent: async (request, context) => {
      const { agent, slot, reason, drain, deadlineMs } = request;
      if (!Number.isFinite(deadlineMs) || deadlineMs < 0) return badDeadline(deadlineMs);
      return tell(agent, context, () => ({ kind: "disable", slot, reason, drain, deadlineMs }));
    },
    EnableAgent: ({ agent, slot }, context) =>
      tell(agent, context, () => ({ kind: "enable", slot })),
    RemoveAgent: ({ agent, reason, force }, context) =>
      tell(agent, context, () => ({
        kind: "remove",
        reason,
        runs: runsOn(cluster, agent),
        force,
      })),
  } satisfies Partial<CommandTable<"scheduler">>;
}

/**
 * Runs that are placed on the agent, and ended runs that may still run there; none for a silent agent, whose removal
 * ends the wait for it.
 */
function runsOn(cluster: Cluster, agent: string): readonly string[] {
  if (cluster.awaited.has(agent)) return [];
  const ghosts = Object.keys(cluster.agents.get(agent)?.ghosts ?? {});
  return [...cluster.placedOn(agent), ...ghosts];
}

function unknownName(agent: string): Rejection {
  return reject("agent_unknown", `no agent can have the name "${agent}"`);
}

function badDeadline(deadlineMs: number): Rejection {
  const detail = `deadline_ms is ${deadlineMs}, but it has to be 0 (for never) or a positive number`;
  return reject("invalid_request", detail);
}
