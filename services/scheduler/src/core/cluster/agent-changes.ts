/** Effects of events that concern only a known agent, and what is known of its host when it joins. */
import type { AnyEvent, EventData } from "@trainyard/contracts";
import { undeliveredAfter } from "../agent/undelivered.ts";
import { inUse, useAfter } from "../agent/use.ts";
import { heldSince } from "./held-since.ts";
import type { Agent } from "./state.ts";
import { afterDistrusted, fullTrust } from "./trust.ts";

export function agentChange(agent: Agent, event: AnyEvent, timeMs: number): Partial<Agent> {
  switch (event.type) {
    case "AgentLost":
      return { status: "lost", lostAtMs: timeMs, awaited: null };
    case "AgentsSilent": {
      const { reason, waitMs } = event.data;
      return { awaited: { reason, untilMs: timeMs + waitMs } };
    }
    case "AgentsHeard":
      return { awaited: null };
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

/** An agent of which nothing is known but its offer. */
export const newHost = {
  ...inUse,
  ghosts: {},
  trust: fullTrust,
  awaited: null,
  diskLowBytes: null,
  undelivered: null,
  left: {},
  notices: [],
};

/** Returns the agent after it has joined: the facts about its host and what users set stay. */
export function joinedAgent(
  id: string,
  before: Agent | undefined,
  joined: EventData<"AgentJoined">,
  position: number,
): Agent {
  return {
    ...(before ?? newHost),
    id,
    joined,
    status: "present",
    lostAtMs: null,
    heldSince: heldSince(before, joined, position),
    refused: null,
  };
}
