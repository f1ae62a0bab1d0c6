/** The decisions that the log of the scheduler names: agents that are lost or return, failed launches. */
import { AllocationEndCause } from "@trainyard/contracts/events";
import type { AgentCommand } from "../agent/state.ts";
import type { Decision } from "./decision.ts";

export type OperatorLine = {
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
};

/** Returns the line of a committed decision; null for those that are no news for an operator. */
export function operatorLine({ on, id, command }: Decision): OperatorLine | null {
  if (on === "agent") return agentLine(id, command);
  if (on !== "allocation" || command.kind !== "end") return null;
  const { cause, message: why, launchFailure } = command;
  if (cause === AllocationEndCause.AGENT_LOST)
    return { message: "run_lost_with_its_agent", fields: { allocation: id, why } };
  if (cause !== AllocationEndCause.LAUNCH_FAILED) return null;
  const { agents = [] } = launchFailure ?? {};
  return { message: "launch_failed", fields: { allocation: id, agents, why } };
}

function agentLine(agent: string, command: AgentCommand): OperatorLine | null {
  switch (command.kind) {
    case "lose":
      return { message: "agent_lost", fields: { agent, why: command.reason } };
    case "return":
      return { message: "agent_returned", fields: { agent, runs: command.occupations.length } };
    case "note_silent": {
      const { agents, silent, reason: why, waitMs } = command.silent;
      return {
        message: "agents_silent",
        fields: { agents: agents.slice(0, 20), silent, why, waitMs },
      };
    }
    case "distrust": {
      const { failures, experiments, reason: why, forMs } = command.distrusted;
      return { message: "agent_distrusted", fields: { agent, failures, experiments, why, forMs } };
    }
    case "refuse":
      return {
        message: "agent_name_refused",
        fields: { agent, address: command.address, why: command.reason },
      };
    case "note_disk":
      if (!command.low)
        return { message: "agent_disk_freed", fields: { agent, freeBytes: command.freeBytes } };
      return { message: "agent_disk_low", fields: { agent, freeBytes: command.freeBytes } };
    default:
      return null;
  }
}
