/** Effects of events that concern only a known agent, and what is known of its host when it joins. */
import type { AnyEvent } from "@trainyard/contracts";
import { undeliveredAfter } from "../agent/undelivered.ts";
import { useAfter } from "../agent/use.ts";
import type { Agent } from "./state.ts";
import { afterDistrusted, fullTrust } from "./trust.ts";

export function agentChange(agent: Agent, event: AnyEvent, timeMs: number): Partial<Agent> {
  switch (event.type) {
    case "AgentNameRefused": {
      const { folder, address } = event.data;
      return { refused: { folder, address } };
    }
    case "AgentNameCleared":
      return { refused: null };
    case "AgentDistrusted":
      return { trust: afterDistrusted(agent.trust, event.data, timeMs) };
    case "AgentTrusted":
      return { trust: fullTrust };
    case "AgentDiskLow":
      return { diskLowBytes: event.data.freeBytes };
    case "AgentDiskFreed":
      return { diskLowBytes: null };
    case "CheckpointsLeft":
      return { undelivered: undeliveredAfter(event.data) };
    case "AgentNoticed":
      return { notices: event.data.notices };
    case "ProcessesLeft": {
      const { allocation, message } = event.data;
      return { left: { ...agent.left, [allocation]: message } };
    }
    case "AgentDisabled":
    case "AgentEnabled":
    case "AgentDrainRequested":
    case "AgentDrained":
    case "SlotDisabled":
    case "SlotEnabled":
      return useAfter(agent, event);
    default:
      return {};
  }
}

/** Returns the facts about an agent's host that stay when the agent joins again. */
export function hostBefore(
  before: Agent | undefined,
): Pick<Agent, "diskLowBytes" | "undelivered" | "left" | "notices"> {
  const { diskLowBytes = null, undelivered = null, left = {}, notices = [] } = before ?? {};
  return { diskLowBytes, undelivered, left, notices };
}
